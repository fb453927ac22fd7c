/** Announcements (§2 /annoucements): all columns, the status and its toggle, thumbnails that load when they come into view. */
import { type Announcement, announcementTypeLabels, fileUrl } from '@arcade/contract/announcements'
import { Anchor, Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, asCallError, client, queryClient } from '#src/client.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { type Column, DataTable, Missing, RowActions } from '#src/ui/data-table.tsx'
import { DuplicateButton, LinkButton } from '#src/ui/link-button.tsx'
import { Page } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import classes from './announcements.module.css'

const MISSING_FILE = 'default' // §2

const columns: readonly Column<Announcement>[] = [
  { header: 'Sr.No', render: (_, number) => number },
  { header: 'Title', value: ({ title }) => title, viewMore: true },
  { header: 'Subtitle', value: ({ subtitle }) => subtitle, viewMore: true },
  { header: 'Type', value: ({ type }) => announcementTypeLabels[type] },
  { header: 'Desc/Link', value: ({ description, link }) => description ?? link, viewMore: true },
  { header: 'Reward', value: ({ reward }) => reward, align: 'end' },
  { header: 'Participants', value: ({ numberOfParticipants }) => numberOfParticipants, align: 'end' },
  { header: 'Toggle Status', render: (announcement) => <StatusButton announcement={announcement} /> },
  { header: 'Image Name', value: ({ imageName }) => imageName, missing: MISSING_FILE, viewMore: true },
  { header: 'Image Thumb', render: ({ image, imageName }) => <Thumb fileKey={image} name={imageName} /> },
  { header: 'Icon Name', value: ({ iconName }) => iconName, missing: MISSING_FILE, viewMore: true },
  { header: 'Icon Thumb', render: ({ icon, iconName }) => <Thumb fileKey={icon} name={iconName} /> },
  { header: 'Update', render: ({ id }) => <UpdateButtons id={id} /> },
  { header: 'Delete', render: (announcement) => <DeleteButton announcement={announcement} /> },
]

export function AnnouncementsPage() {
  const { page = 1 } = useSearch({ from: '/shell/management/annoucements' })
  const navigate = useNavigate()
  const { data, error, isPlaceholderData, refetch } = useQuery(
    api.announcements.list.queryOptions({ input: { page }, placeholderData: keepPreviousData }),
  )

  return (
    <Page title="Announcements" actions={<LinkButton to="/annoucement-form">Add Annoucement</LinkButton> /* sic, §2 */}>
      <div className={classes['list']}>
        <DataTable
          label="Announcements"
          columns={columns}
          rows={data?.announcements}
          rowKey={({ id }) => id}
          emptyText={data?.message ?? 'No annoucements found!'} // sic, §8
          error={error && !data ? asCallError(error).message : undefined}
          onRetry={() => void refetch()}
          isStale={isPlaceholderData}
          paging={data && { page, pageSize: data.pageSize, pageCount: data.pageCount }}
          onPageChange={(next) => void navigate({ to: '/annoucements', search: next > 1 ? { page: next } : {} })}
        />
      </div>
    </Page>
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
