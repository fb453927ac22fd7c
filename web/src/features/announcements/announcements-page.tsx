/**
 * Announcements (§2 /annoucements): all columns, the status and its toggle, thumbnails that load when they come into view; searched,
 * sorted, filtered, picked.
 */
import {
  type Announcement,
  type AnnouncementsFilter,
  announcementTypeLabels,
  fileUrl,
} from '@arcade/contract/entities/announcement'
import { Anchor, Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, asCallError, client, fetchSpreadsheet, queryClient } from '#src/client.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { type Column, DataTable, Missing, RowActions } from '#src/ui/data-table.tsx'
import { DownloadButton } from '#src/ui/download.tsx'
import { DuplicateButton, LinkButton } from '#src/ui/link-button.tsx'
import { defined, listControls } from '#src/ui/list-search.ts'
import type { Filter } from '#src/ui/list-toolbar.tsx'
import { Page } from '#src/ui/page.tsx'
import { BulkButton, type Selection, useSelection } from '#src/ui/selection.tsx'
import { toast } from '#src/ui/toast.tsx'
import type { AnnouncementsSearch } from './announcements-search.ts'
import classes from './announcements.module.css'

const MISSING_FILE = 'default' // §2

const columns: readonly Column<Announcement>[] = [
  { header: 'Sr.No', render: (_, number) => number, sort: 'created' },
  { header: 'Title', value: ({ title }) => title, viewMore: true, sort: 'title' },
  { header: 'Subtitle', value: ({ subtitle }) => subtitle, viewMore: true },
  { header: 'Type', value: ({ type }) => announcementTypeLabels[type] },
  { header: 'Desc/Link', value: ({ description, link }) => description ?? link, viewMore: true },
  { header: 'Reward', value: ({ reward }) => reward, align: 'end', sort: 'reward' },
  {
    header: 'Participants',
    value: ({ numberOfParticipants }) => numberOfParticipants,
    align: 'end',
    sort: 'participants',
  },
  { header: 'Toggle Status', render: (announcement) => <StatusButton announcement={announcement} /> },
  { header: 'Image Name', value: ({ imageName }) => imageName, missing: MISSING_FILE, viewMore: true },
  { header: 'Image Thumb', render: ({ image, imageName }) => <Thumb fileKey={image} name={imageName} /> },
  { header: 'Icon Name', value: ({ iconName }) => iconName, missing: MISSING_FILE, viewMore: true },
  { header: 'Icon Thumb', render: ({ icon, iconName }) => <Thumb fileKey={icon} name={iconName} /> },
  { header: 'Update', render: ({ id }) => <UpdateButtons id={id} /> },
  { header: 'Delete', render: (announcement) => <DeleteButton announcement={announcement} /> },
]

const filters: readonly Filter[] = [
  {
    name: 'type',
    label: 'Type',
    kind: 'choice',
    options: Object.entries(announcementTypeLabels).map(([value, label]) => ({ value, label })),
  },
  {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    options: [
      { value: 'active', label: 'Active' },
      { value: 'inactive', label: 'In Active' }, // sic, §2
    ],
  },
]

export function AnnouncementsPage() {
  const search = useSearch({ from: '/shell/management/annoucements' })
  const { q, type, status, sort = 'created', reversed = false, page = 1 } = search
  const navigate = useNavigate()
  const filter: AnnouncementsFilter = defined({ search: q, type, status })
  const input = { ...filter, sort, reversed, page }
  const { data, error, isPlaceholderData, refetch } = useQuery(
    api.announcements.list.queryOptions({ input, placeholderData: keepPreviousData }),
  )
  const selection = useSelection<AnnouncementsFilter>('announcements', filter)
  const show = (next: AnnouncementsSearch, replace = false) =>
    void navigate({ to: '/annoucements', search: defined({ ...search, page: undefined, ...next }), replace })
  const controls = listControls({ search, ownSort: 'created', values: { type, status }, show })

  return (
    <Page title="Announcements" actions={<LinkButton to="/annoucement-form">Add Annoucement</LinkButton> /* sic, §2 */}>
      <div className={classes['list']}>
        <DataTable
          label="Announcements"
          columns={columns}
          rows={data?.announcements}
          rowKey={({ id }) => id}
          toolbar={{ ...controls.toolbar, searchLabel: 'Search announcements', filters }}
          sorting={controls.sorting}
          picking={{ selection, total: data?.total, actions: <BulkActs selection={selection} /> }}
          emptyText={
            Object.keys(filter).length === 0 ? (data?.message ?? 'No annoucements found!') : 'No announcement matches.' // sic, §8
          }
          error={error && !data ? asCallError(error).message : undefined}
          onRetry={() => void refetch()}
          isStale={isPlaceholderData}
          paging={data && { page, pageSize: data.pageSize, pageCount: data.pageCount }}
          onPageChange={(next) => show({ page: next > 1 ? next : undefined })}
        />
      </div>
    </Page>
  )
}

function BulkActs({ selection }: { selection: Selection<AnnouncementsFilter> }) {
  const { target } = selection
  const shared = {
    messageOf: (problem: unknown) => asCallError(problem).message,
    onEnd: () => {
      selection.clear()
      void queryClient.invalidateQueries()
    },
  }
  return (
    <>
      <DownloadButton
        id="announcements selection"
        label="Download Selection"
        size="compact-md"
        start={(options) =>
          fetchSpreadsheet('selection', { list: 'announcements', target }, { ...options, fallbackName: 'announcements.xlsx' })
        }
        successText="Data Downloaded Successfuly!" // sic, §8
        failureText="Error Downloading Data!"
      />
      {[true, false].map((status) => (
        <BulkButton
          key={String(status)}
          act={{
            ...shared,
            title: status ? 'Activate announcements' : 'Deactivate announcements',
            question: (count) =>
              status
                ? `Are you sure you want to activate ${count} announcements? Every player will have something new.`
                : `Are you sure you want to deactivate ${count} announcements?`,
            run: (run) => client.announcements.setStatus({ target, status, ...run }),
            successText: (count) => `${count} announcements ${status ? 'activated' : 'deactivated'}.`,
          }}
        >
          {status ? 'Activate' : 'Deactivate'}
        </BulkButton>
      ))}
      <BulkButton
        act={{
          ...shared,
          title: 'Delete announcements',
          question: (count) =>
            `Are you sure you want to delete ${count} announcements? Their images and icons go, their history stays.`,
          isDestructive: true,
          run: (run) => client.announcements.removeMany({ target, ...run }),
          successText: (count) => `${count} announcements deleted.`,
        }}
      >
        Delete Selected
      </BulkButton>
    </>
  )
}

function StatusButton({ announcement: { id, title, status } }: { announcement: Announcement }) {
  const confirm = useConfirm()
  const [isBusy, setIsBusy] = useState(false)

  const handleToggle = async () => {
    if (isBusy || !(await confirm({ title: 'Toggle Status', message: `Are you sure you want toggle status of ${title}.` })))
      return
    setIsBusy(true)
    try {
      const { message } = await client.announcements.toggleStatus({ id, status })
      toast.success(message)
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.status === 0 ? 'Internal Server Error!' : error.message) // §8
    }
    await queryClient.invalidateQueries() // the figures of the dashboard count active ones, too
    setIsBusy(false)
  }

  return (
    <Button
      color={status ? 'green' : 'red'}
      size="compact-md"
      className={classes['status'] ?? ''}
      data-active={status || undefined}
      aria-disabled={isBusy}
      onClick={() => void handleToggle()}
    >
      {status ? 'Active' : 'In Active'}
    </Button>
  )
}

function Thumb({ fileKey, name }: { fileKey: string | null; name: string | null }) {
  if (fileKey === null) return <Missing text={MISSING_FILE} />
  return (
    <Anchor href={fileUrl(fileKey)} target="_blank" rel="noreferrer noopener" className={classes['thumb'] ?? ''}>
      <img src={fileUrl(fileKey, 'thumb')} alt={name ?? 'Image'} loading="lazy" decoding="async" width={36} height={36} />
    </Anchor>
  )
}

function UpdateButtons({ id }: { id: string }) {
  return (
    <RowActions>
      <LinkButton variant="default" size="compact-md" to="/annoucement-form-update" search={{ id }} preload={false}>
        Update
      </LinkButton>
      <DuplicateButton to="/annoucement-form" search={{ from: id }} preload={false} />
    </RowActions>
  )
}

function DeleteButton({ announcement: { id, title } }: { announcement: Announcement }) {
  const confirm = useConfirm()

  const handleDelete = async () => {
    const message = `Are you sure you want to delete ${title}? Its image and icon go, its history stays.`
    if (!(await confirm({ title: 'Delete announcement', message, isDestructive: true }))) return
    try {
      await client.announcements.remove({ id })
      toast.success('Annoucement Deleted Succesfuly!') // sic, §8
    } catch {
      toast.failure('Error Deleting Annoucement!') // sic, §8
    }
    await queryClient.invalidateQueries()
  }

  return (
    <RowActions>
      <Button variant="outline" color="red" size="compact-md" onClick={() => void handleDelete()}>
        Delete
      </Button>
    </RowActions>
  )
}
