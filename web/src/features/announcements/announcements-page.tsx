/** The list of announcements (§2 /annoucements), with a button that toggles the status and thumbnails that load when in view. */
import { type Announcement, announcementList, type AnnouncementsFilter, fileUrl } from '@arcade/contract/announcements/fields'
import { isolated } from '@arcade/contract/text'
import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, client } from '#src/client/client.ts'
import { markOfBot } from '#src/lists/bot-mark.tsx'
import { DeleteRowButton, DeleteSelectedButton, bulkEnd } from '#src/lists/acts.tsx'
import { listColumns } from '#src/lists/columns.tsx'
import { copyHref, editHref } from '#src/lists/form-hrefs.ts'
import { listFilter, listOrder } from '#src/lists/list-address.ts'
import { ItemLink } from '#src/lists/item-link.tsx'
import { ItemStateChip, StateBeside, Titled } from '#src/lists/item-state.tsx'
import { ScheduleActs } from '#src/lists/schedule-acts.tsx'
import { ListTable } from '#src/lists/list-table.tsx'
import { ParticipantsLink } from '#src/lists/participants-link.tsx'
import { useUndo } from '#src/lists/undo.ts'
import { asListed, useList } from '#src/lists/use-list.ts'
import { Missing, RowActions } from '#src/lists/table-cells.tsx'
import { useMay } from '#src/session.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { counted } from '#src/ui/numbers.ts'
import { Page } from '#src/ui/page.tsx'
import { DuplicateButton, EditButton } from '#src/lists/row-buttons.tsx'
import { BulkButton } from '#src/lists/bulk-act.tsx'
import type { Selection } from '#src/lists/selection.tsx'
import { keepFocusInRows } from '#src/ui/table-rows.ts'
import { State, StateButton } from '#src/ui/state.tsx'
import classes from './announcements.module.css'
import { useToggleStatus } from './toggle-status.tsx'

/** The permission for all that changes an announcement. */
const WRITE = 'announcements.write'
const MISSING_FILE = 'default' // §2
/** What the deletion of one announcement does. */
const CONSEQUENCE = 'It goes to the trash with its image and icon, its history stays.'

const columns = listColumns(announcementList, {
  // The default order is the order of creation, so the rows are numbered in that order.
  createdAt: { header: 'Sr.No', render: (_, number) => number, width: 3, card: 'fold' },
  title: {
    render: (announcement) => (
      <Titled segmentId={announcement.segmentId}>
        <TitleLink announcement={announcement} />
      </Titled>
    ),
    width: 4,
    grow: 4,
    isTwoLines: true,
    card: 'title',
  },
  subtitle: { viewMore: true, width: 3.5, grow: 3, isTwoLines: true, card: 'wide' },
  type: { mark: markOfBot, width: 2.875, grow: 0.2, card: 'fold' },
  description: {
    header: 'Desc/Link',
    value: ({ description, link }) => description ?? link,
    viewMore: true,
    width: 3.5,
    grow: 2,
    isTwoLines: true,
    card: 'fold',
  },
  link: false, // in the column Desc/Link
  reward: { width: 3.625, grow: 0.2, card: 'fold' },
  numberOfParticipants: {
    render: ({ id, numberOfParticipants }) => <ParticipantsLink kind="announcement" id={id} count={numberOfParticipants} />,
    align: 'end',
    width: 5.25,
    grow: 0.2,
    card: 'fold',
  },
  status: {
    header: 'Toggle Status',
    render: (announcement) => (
      <div className={classes['status']}>
        <StatusButton announcement={announcement} />
        <StateBeside item={announcement} />
      </div>
    ),
    width: 5,
    grow: 0.2,
    card: 'start',
  },
  verifiedByBot: {
    value: ({ verifiedByBot }) => (verifiedByBot ? 'Yes' : 'No'),
    isHiddenAtFirst: true,
    width: 4,
    card: 'fold',
  },
  state: { render: ({ state }) => <ItemStateChip state={state} />, isHiddenAtFirst: true, width: 5.5, card: 'fold' },
  startsAt: { isHiddenAtFirst: true, width: 5.5, grow: 1, card: 'fold' },
  endsAt: { isHiddenAtFirst: true, width: 5.5, grow: 1, card: 'fold' },
  maxParticipants: { isHiddenAtFirst: true, width: 5.5, card: 'fold' },
  dailyBudget: { isHiddenAtFirst: true, width: 4.5, card: 'fold' },
  // As narrow as their headers and the word for a missing file.
  imageName: { missing: MISSING_FILE, viewMore: true, width: 2.625, card: 'fold' },
  image: {
    header: 'Image Thumb',
    render: ({ image, imageName }) => <Thumb fileKey={image} name={imageName} />,
    width: 2.625,
    card: 'fold',
  },
  iconName: { missing: MISSING_FILE, viewMore: true, width: 2.625, card: 'fold' },
  icon: {
    header: 'Icon Thumb',
    render: ({ icon, iconName }) => <Thumb fileKey={icon} name={iconName} />,
    width: 2.625,
    card: 'fold',
  },
  Update: { render: ({ id }) => <UpdateButtons id={id} />, needs: WRITE, width: 3.75, card: 'end' },
  Delete: {
    render: (announcement) => <DeleteButton announcement={announcement} />,
    needs: WRITE,
    width: 2.5,
    card: 'end',
  },
  id: false,
  linkType: false,
  inputText: false,
  segmentId: false,
  version: false,
})

export function AnnouncementsPage() {
  const address = useSearch({ from: '/shell/management/annoucements' })
  const input = { ...listFilter(announcementList, address), ...listOrder(announcementList, address), page: address.page ?? 1 }
  const query = useQuery(api.announcements.list.queryOptions({ input, ...asListed }))
  const state = useList(announcementList, { address, query, rowsOf: ({ announcements }) => announcements })
  const mayWrite = useMay(WRITE)
  return (
    <Page
      isList
      title="Announcements"
      actions={mayWrite && <LinkButton to="/annoucement-form">Add Annoucement</LinkButton> /* sic, §2 */}
    >
      <div className={classes['list']}>
        <ListTable
          label="Announcements"
          state={state}
          columns={columns}
          rowKey={({ id }) => id}
          firstStep={mayWrite && <LinkButton to="/annoucement-form">Add the first announcement</LinkButton>}
          actsNeed={WRITE}
          acts={<BulkActs selection={state.selection} />}
        />
      </div>
    </Page>
  )
}

function BulkActs({ selection }: { selection: Selection<AnnouncementsFilter> }) {
  const { target } = selection
  const undo = useUndo(announcementList)
  return (
    <>
      {[true, false].map((status) => (
        <BulkButton
          key={String(status)}
          act={{
            ...bulkEnd(announcementList, selection),
            title: status ? 'Activate announcements' : 'Deactivate announcements',
            question: (count) =>
              status
                ? `Are you sure you want to activate ${counted(count, 'announcement')}? Every player will have something new.`
                : `Are you sure you want to deactivate ${counted(count, 'announcement')}?`,
            confirmLabel: (count) => `${status ? 'Activate' : 'Deactivate'} ${counted(count, 'announcement')}`,
            run: (run) => undo.change((options) => client.announcements.setStatus({ target, status, ...run }, options)),
            successText: (count) => `${counted(count, 'announcement')} ${status ? 'activated' : 'deactivated'}.`,
          }}
        >
          {status ? 'Activate' : 'Deactivate'}
        </BulkButton>
      ))}
      <ScheduleActs
        list={announcementList}
        selection={selection}
        shift={(input, options) => client.announcements.shift(input, options)}
        end={(input, options) => client.announcements.end(input, options)}
        consequence="They become In Active, and nobody can claim them any more."
      />
      <DeleteSelectedButton
        list={announcementList}
        selection={selection}
        consequence={(count) =>
          count === 1 ? CONSEQUENCE : 'They go to the trash with their images and icons, their history stays.'
        }
        run={(chosen, run, options) => client.announcements.removeMany({ target: chosen, ...run }, options)}
      />
    </>
  )
}

function TitleLink({ announcement: { id, title } }: { announcement: Announcement }) {
  return (
    <ItemLink kind="announcement" id={id}>
      {title}
    </ItemLink>
  )
}

function StatusButton({ announcement }: { announcement: Announcement }) {
  const toggleStatus = useToggleStatus()
  const [isBusy, setIsBusy] = useState(false)
  const mayToggle = useMay(WRITE)
  const { status } = announcement
  const text = status ? 'Active' : 'In Active'

  const handleToggle = async (button: Element) => {
    if (isBusy) return
    const keepFocus = keepFocusInRows(button)
    setIsBusy(true)
    await toggleStatus(announcement, button)
    setIsBusy(false)
    keepFocus() // the row is gone if the list is filtered by status
  }

  if (!mayToggle) return <State is={status ? 'good' : 'bad'}>{text}</State>
  return (
    <StateButton
      is={status ? 'good' : 'bad'}
      aria-disabled={isBusy}
      onClick={({ currentTarget }) => void handleToggle(currentTarget)}
    >
      {text}
    </StateButton>
  )
}

function Thumb({ fileKey, name }: { fileKey: string | null; name: string | null }) {
  if (fileKey === null) return <Missing text={MISSING_FILE} />
  return (
    <Anchor href={fileUrl(fileKey)} target="_blank" rel="noreferrer noopener" className={classes['thumb'] ?? ''}>
      <img src={fileUrl(fileKey, 'thumb')} alt={name ?? 'Image'} loading="lazy" decoding="async" width={40} height={40} />
    </Anchor>
  )
}

function UpdateButtons({ id }: { id: string }) {
  return (
    <RowActions>
      <EditButton label="Update" href={editHref('/annoucement-form', id)} />
      <DuplicateButton href={copyHref('/annoucement-form', id)} />
    </RowActions>
  )
}

function DeleteButton({ announcement: { id, title } }: { announcement: Announcement }) {
  return (
    <DeleteRowButton
      list={announcementList}
      question={`Are you sure you want to delete ${isolated(title)}? ${CONSEQUENCE}`}
      run={async (options) => {
        await client.announcements.remove({ id }, options)
        return 'Annoucement Deleted Succesfuly!' // sic, §8
      }}
      failureText="Error Deleting Annoucement!" // sic, §8
    />
  )
}
