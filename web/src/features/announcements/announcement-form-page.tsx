/**
 * The add and edit form of announcements (§2, §4, §5), with a preview. The address names the announcement that is edited or duplicated, so
 * that a reload keeps it.
 */
import {
  type Announcement,
  announcementTypeLabels,
  announcementTypes,
  fileUrl,
  linkTypeLabels,
} from '@arcade/contract/announcements/fields'
import { verifiedByBotTexts } from '@arcade/contract/tasks/fields'
import { type announcementInput, type AnnouncementInput, SUBTITLE_MAX_LENGTH } from '@arcade/contract/announcements/calls'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { type Control, useWatch } from 'react-hook-form'
import type { z } from 'zod'
import { api, asCallError, CallError, client, creation, fetchOnce, fetchStoredFile, problemOf, queryClient } from '#src/client.ts'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { CheckboxField } from '#src/ui/form-checkbox.tsx'
import { DraftOffer, useDraftForm } from '#src/ui/form-draft.tsx'
import { NumberField } from '#src/ui/form-number.tsx'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { FormWithPreview, Preview } from '#src/ui/form-preview.tsx'
import { Form, FormActions, OtherSubmitButton, SelectField, SubmitButton, TextareaField, TextField } from '#src/ui/form.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { textProblem } from '#src/ui/bot-message.ts'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import { useUnsaved } from '#src/ui/unsaved.ts'
import { MergeVersions, SAVE_MERGED, useMerge } from '#src/versions/merge.tsx'
import { RecordHistory } from '#src/versions/record-history.tsx'
import classes from './announcements.module.css'
import { toBotItem } from './bot-item.ts'
import { previewAddress, type ChosenFile, FileField } from './file-field.tsx'
import { useToggleStatus } from './toggle-status.tsx'

const SUCCESS_DELAY_MS = 2000 // §4: after a create, not after an update
const FAILURE_DELAY_MS = 1000 // §4

export function AddAnnouncementPage() {
  const { from } = useSearch({ from: '/shell/management/annoucement-form' })
  return (
    <Page title="Add Announcement" narrow="with-aside">
      {from === undefined ? <AnnouncementForm /> : <CopyForm key={from} from={from} />}
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
    <Page title="Update Announcement" narrow="with-aside">
      {id === '' ? (
        <InsteadOfForm problem="Choose an announcement in the list." />
      ) : data && !error ? (
        <>
          <AnnouncementForm key={`${data.id} ${data.version}`} announcement={data} onReload={handleReload} />
          <RecordHistory kind="announcement" id={data.id} version={data.version} onRestored={handleReload} />
        </>
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
          <BackButton />
        </Problem>
      )}
    </Panel>
  )
}

interface AnnouncementFormProps {
  /** The announcement to edit; without one the form adds an announcement. */
  announcement?: Announcement
  onReload?: () => void
  /** The announcement that the new one is a copy of, and the copies of its files. */
  source?: Announcement
  files?: { image: ChosenFile; icon: ChosenFile }
}

function AnnouncementForm({ announcement, onReload, source, files }: AnnouncementFormProps) {
  const navigate = useNavigate()
  const toggleStatus = useToggleStatus()
  const [createOnce] = useState(creation)
  const first = announcement ?? source
  const form = useDraftForm(
    () => import('@arcade/contract/announcements/calls').then(({ announcementInput }) => announcementInput),
    first ? toValues(first) : empty,
    { name: `announcement ${announcement?.id ?? (source ? `copy of ${source.id}` : 'new')}`, basis: announcement?.version },
  )
  const { setValue } = form
  const [type, linkType] = useWatch({ control: form.control, name: ['type', 'linkType'] })
  const image = useFile(files?.image ?? storedFile(announcement?.image, announcement?.imageName))
  const icon = useFile(files?.icon ?? storedFile(announcement?.icon, announcement?.iconName))

  const merge = useMerge({
    kind: 'announcement',
    record: announcement,
    load: () => client.announcements.get({ id: announcement?.id ?? '' }),
    toValues: (saved) => ({ ...usedValues(toValues(saved)), image: saved.image, icon: saved.icon }),
    alsoTold: ['status'],
    decides: { type: ['description', 'link', 'linkType', 'inputText'], linkType: ['inputText'] },
  })

  /** The newest known version. Undefined if a save was stale and the newer version could not be loaded: its status may have changed. */
  const newest = merge.theirs?.record ?? (form.refusal?.code === 'STALE' ? undefined : announcement)
  const isLive = newest?.status === true

  useUnsaved(image.isChanged || icon.isChanged)

  useEffect(() => {
    if (type !== 'link') setValue('link', '') // an invalid link in the hidden field would prevent the form from being submitted
  }, [type, setValue])

  /** The form's files when a save was refused as stale. In the merge the operator may replace them and choose them again. */
  const ownFiles = useRef<{ image: ChosenFile; icon: ChosenFile }>({ image: undefined, icon: undefined })

  /** Returns what the form would save now, with the key or name of each file. */
  const mine = () => ({ ...usedValues(form.getValues()), image: fileName(image.field.value), icon: fileName(icon.field.value) })
  const handleChoice = (name: string, value: unknown) => {
    if (name !== 'image' && name !== 'icon') return setValue(name as 'title', value as string, { shouldDirty: true })
    const theirs = merge.theirs?.record
    const isTheirs = value === (theirs?.[name] ?? null)
    return { image, icon }[name].field.onChange(
      isTheirs ? storedFile(theirs?.[name], theirs?.[`${name}Name`]) : ownFiles.current[name],
    )
  }

  const handleSubmit = async (values: AnnouncementInput) => {
    try {
      const [sentImage, sentIcon] = [await image.send(), await icon.send()]
      const input = { ...values, image: sentImage.key, imageName: sentImage.name, icon: sentIcon.key, iconName: sentIcon.name }
      if (announcement) await client.announcements.update({ ...input, id: announcement.id, version: merge.version() })
      else await createOnce((options) => client.announcements.create(input, options))
      form.finish()
      // The cached list refers to files that no longer exist.
      const isOther = sentImage.key !== (announcement?.image ?? null) || sentIcon.key !== (announcement?.icon ?? null)
      if (announcement && isOther) queryClient.removeQueries({ queryKey: api.announcements.list.key() })
      if (announcement) toast.success('Announcement Updated Successfully!')
      else toast.success('Announcement Created Successfully!', { delayMs: SUCCESS_DELAY_MS })
      await navigate({ to: '/annoucements', replace: true }) // so that Back does not return to the form of a saved announcement
      await refreshAfterActOn('announcements')
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(announcement ? 'Error Updating Announcement!' : 'Error Creating Announcement!', {
        delayMs: FAILURE_DELAY_MS,
        detail: error.message,
      })
      if (error.code === 'STALE') {
        ownFiles.current = { image: image.field.value, icon: icon.field.value }
        await merge.begin()
      }
      image.refuse(error.fields['image'])
      icon.refuse(error.fields['icon'])
      // A message that is shown at a file field is not repeated below the form.
      return Object.keys(error.fields).length > 0 ? { fields: error.fields } : error
    }
  }

  /** Saves, then asks whether to activate. By then the list is shown, with the saved announcement. */
  const handleUpdateAndActivate = async (values: AnnouncementInput) => {
    const problem = await handleSubmit(values)
    if (problem || !announcement) return problem
    await toggleStatus({ ...values, id: announcement.id, status: false, image: previewAddress(image.field.value) ?? null })
    return undefined
  }

  return (
    <FormWithPreview preview={<AnnouncementPreview control={form.control} image={image.field.value} icon={icon.field.value} />}>
      <Panel>
        <DraftOffer offer={form.offer} />
        <Form form={form} onSubmit={handleSubmit} label={announcement ? 'Update Announcement' : 'Add Announcement'}>
          <SelectField
            control={form.control}
            name="type"
            label="Type"
            isRequired
            placeholder="Select a type"
            options={announcementTypes.map((value) => ({ value, label: announcementTypeLabels[value] }))}
          />
          <TextField control={form.control} name="title" label="Title" isRequired />
          <TextField control={form.control} name="subtitle" label="Subtitle" isRequired countsTo={SUBTITLE_MAX_LENGTH} />
          {type === 'desc' && <TextareaField control={form.control} name="description" label="Description" />}
          {type === 'link' && (
            <>
              <TextField control={form.control} name="link" label="Link" isRequired type="url" placeholder="https://" />
              <SelectField
                control={form.control}
                name="linkType"
                label="Link Type"
                isRequired
                placeholder="Select a link type"
                options={Object.entries(linkTypeLabels).map(([value, label]) => ({ value, label }))}
              />
              {linkType === 'input' && <TextField control={form.control} name="inputText" label="Input Text" />}
            </>
          )}
          <NumberField control={form.control} name="reward" label="Reward" isRequired />
          <CheckboxField control={form.control} name="verifiedByBot" {...verifiedByBotTexts} />
          <FileField label="Image" {...image.field} />
          <FileField label="Icon" {...icon.field} />
          <TextWarning control={form.control} image={image.field.value} />
          <FormRefusal form={form} onReload={onReload} />
          <MergeVersions merge={merge} mine={mine} onChoose={handleChoice} />
          {isLive && (
            <p className={classes['notice']}>
              This announcement is Active. An update makes it In Active; players see it again once it is activated.
            </p>
          )}
          <FormActions back={<BackButton />}>
            <SubmitButton>{merge.theirs ? SAVE_MERGED : announcement ? 'Update' : 'Add Annoucement' /* sic, §2 */}</SubmitButton>
            {isLive && (
              <OtherSubmitButton onClick={() => void form.submit(handleUpdateAndActivate)}>Update and activate</OtherSubmitButton>
            )}
          </FormActions>
        </Form>
      </Panel>
    </FormWithPreview>
  )
}

interface TypedProps {
  control: Control<z.input<typeof announcementInput>, unknown, AnnouncementInput>
  image: ChosenFile
}

/** Warns that a text is too long for Telegram. It can be saved all the same, because the bot decides how to send it. */
function TextWarning({ control, image }: TypedProps) {
  const values = useWatch({ control })
  const problem = textProblem(toBotItem({ ...values, image: previewAddress(image) }))
  return (
    <div aria-live="polite">
      {problem !== undefined && <p className={classes['notice']}>{`${problem} It can be saved as it is.`}</p>}
    </div>
  )
}

function AnnouncementPreview({ control, image, icon }: TypedProps & { icon: ChosenFile }) {
  const values = useWatch({ control })
  return <Preview item={{ ...toBotItem({ ...values, image: previewAddress(image) }), icon: previewAddress(icon) }} />
}

const empty = {
  title: '',
  subtitle: '',
  description: '',
  link: '',
  linkType: 'input',
  inputText: '',
  verifiedByBot: false,
} as const

function toValues({ type, title, subtitle, description, link, linkType, inputText, reward, verifiedByBot }: Announcement) {
  return {
    type,
    title,
    subtitle,
    description: description ?? '',
    link: link ?? '',
    linkType: linkType ?? 'input',
    inputText: inputText ?? '',
    reward,
    verifiedByBot,
  }
}

/** Returns the values without the fields that this type and link type do not use. */
function usedValues({ description, link, linkType, inputText, ...values }: Partial<z.input<typeof announcementInput>>) {
  if (values.type !== 'link') return { ...values, description }
  return { ...values, link, linkType, ...(linkType === 'input' && { inputText }) }
}

/** Returns the key of a stored file or the name of a local one. */
function fileName(value: ChosenFile): string | null {
  if (!value) return null
  return 'key' in value ? value.key : value.file.name
}

function storedFile(key: string | null | undefined, name: string | null | undefined): ChosenFile {
  return key ? { key, name: name ?? '' } : undefined
}

/** The state of a file of the form. It is uploaded when the form is submitted, and not again if the form was refused for another reason. */
function useFile(initial: ChosenFile) {
  const [initialFile] = useState(initial)
  const [value, setValue] = useState(initial)
  const [error, setError] = useState<string>()
  const sent = useRef(new WeakMap<File, { key: string; name: string }>())
  /** The file to send. It is a ref, because a file may be accepted after the form was submitted. */
  const latest = useRef(initial)
  const choosing = useRef<Promise<string | undefined>>(undefined)
  return {
    isChanged: value !== initialFile,
    field: {
      value,
      error,
      onChange: (next: ChosenFile) => {
        setError(undefined)
        setValue(next)
        latest.current = next
      },
      onChoosing: (choice: Promise<string | undefined>) => {
        choosing.current = choice
        void choice.then(() => {
          if (choosing.current === choice) choosing.current = undefined
        })
      },
    },
    /** Uploads the file unless it was uploaded, and returns its key and name. @throws CallError; a refusal is also shown at the field */
    async send(): Promise<{ key: string | null; name: string | null }> {
      setError(undefined)
      const problem = await choosing.current
      if (problem !== undefined) throw new CallError({ code: 'INVALID_INPUT', status: 400, message: problem })
      const chosen = latest.current
      if (!chosen) return { key: null, name: null }
      if ('key' in chosen) return chosen
      const alreadySent = sent.current.get(chosen.file)
      if (alreadySent) return alreadySent
      try {
        const stored = await client.announcements.upload({ query: { name: chosen.file.name }, body: rawBody(chosen.file) })
        sent.current.set(chosen.file, stored)
        return stored
      } catch (cause) {
        const { isException, message } = asCallError(cause)
        if (!isException) setError(message) // an exception is not about the file
        throw cause
      }
    },
    /** Shows the server's message that it no longer has the file, and makes the next save upload the file again. */
    refuse(message: string | undefined) {
      if (message === undefined) return
      setError(message)
      if (value && 'file' in value) sent.current.delete(value.file)
    },
  }
}

/** The file without its media type, because the server judges a file by its content. */
function rawBody(file: File): Blob {
  return new Blob([file], { type: 'application/octet-stream' })
}

function BackButton() {
  return (
    <LinkButton to="/annoucements" variant="default">
      Back
    </LinkButton>
  )
}
