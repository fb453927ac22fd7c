/**
 * The pages of announcements' add and edit form (§2, §4, §5). The address names the announcement that is edited or duplicated, so that a
 * reload keeps it.
 */
import { fileUrl } from '@arcade/contract/announcements/fields'
import { listPaths } from '@arcade/contract/lists'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { problemOf } from '#src/client/call-error.ts'
import { api, fetchOnce } from '#src/client/client.ts'
import { fetchStoredFile } from '#src/client/spreadsheet.ts'
import { BackToListButton } from '#src/lists/back-to-list.tsx'
import { Permitted } from '#src/session.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { COPY_HINT, FormWithAside } from '#src/ui/form-page.tsx'
import { Notes } from '#src/notes/notes.tsx'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { FromBefore } from '#src/versions/from-before.tsx'
import { RecordHistory } from '#src/versions/record-history.tsx'
import { AnnouncementForm } from './announcement-form.tsx'
import type { ChosenFile } from './file-field.tsx'

export function AddAnnouncementPage() {
  const { from } = useSearch({ from: '/shell/management/annoucement-form' })
  return (
    <Page title="Add Announcement" narrow="with-aside">
      <FormWithAside>{from === undefined ? <AnnouncementForm /> : <CopyForm key={from} from={from} />}</FormWithAside>
    </Page>
  )
}

/**
 * The add form filled in as a copy of an announcement. Its files are fetched at once, because the original may be deleted or changed before
 * the copy is saved.
 */
function CopyForm({ from }: { from: string }) {
  const source = useQuery(api.announcements.get.queryOptions({ input: { id: from }, ...fetchOnce }))
  const { data } = source
  const files = useQuery({
    queryKey: ['files to copy', data?.image, data?.icon],
    queryFn: async () => ({
      image: await copyFile(data?.image, data?.imageName),
      icon: await copyFile(data?.icon, data?.iconName),
    }),
    enabled: data !== undefined,
    ...fetchOnce,
  })
  if (data && files.data) return <AnnouncementForm source={data} files={files.data} />
  return <InsteadOfForm problem={source.error ?? files.error} onRetry={() => void (data ? files : source).refetch()} />
}

/** Downloads a stored file as a local file. Its preview is the original's URL: a blob URL would be revoked after the first render. */
async function copyFile(key: string | null | undefined, name: string | null | undefined): Promise<ChosenFile> {
  return key ? { file: await fetchStoredFile(fileUrl(key), name ?? ''), url: fileUrl(key) } : undefined
}

export function UpdateAnnouncementPage() {
  const { id = '' } = useSearch({ from: '/shell/management/annoucement-form-update' })
  const { data, error, refetch } = useQuery(
    api.announcements.get.queryOptions({ input: { id }, enabled: id !== '', ...fetchOnce }),
  )
  const handleReload = () => void refetch()
  return (
    <Page
      title="Update Announcement"
      narrow="with-aside"
      actions={
        data && (
          <>
            <Permitted needs="broadcasts.write">
              <LinkButton to="/broadcasts/new" search={{ announcement: id }} variant="default">
                Broadcast
              </LinkButton>
            </Permitted>
            <LinkButton to="/annoucement-form" search={{ from: id }} variant="default" title={COPY_HINT}>
              Duplicate
            </LinkButton>
          </>
        )
      }
    >
      {id === '' ? (
        <InsteadOfForm problem="Choose an announcement in the list." />
      ) : data && !error ? (
        <FormWithAside
          aside={
            <>
              <RecordHistory kind="announcement" id={data.id} version={data.version} onRestored={handleReload} />
              <Notes kind="announcement" id={data.id} />
              <FromBefore kind="announcement" id={data.id} />
            </>
          }
        >
          <AnnouncementForm key={`${data.id} ${data.version}`} announcement={data} onReload={handleReload} />
        </FormWithAside>
      ) : (
        <InsteadOfForm problem={error} onRetry={handleReload} />
      )}
    </Page>
  )
}

/** `problem` is null while the announcement is being loaded. */
function InsteadOfForm({ problem, onRetry = () => {} }: { problem: Error | string | null; onRetry?: () => void }) {
  return (
    <Panel>
      {problem === null ? (
        <output>Loading...</output>
      ) : (
        <Problem {...(typeof problem === 'string' ? { message: problem } : problemOf(problem, onRetry))}>
          <BackToListButton to={listPaths.announcements} />
        </Problem>
      )}
    </Panel>
  )
}
