/** The add and edit form of announcements (§2, §4, §5), with a preview. */
import { toBotItem } from '@arcade/contract/announcements/bot-item'
import {
  type Announcement,
  announcementTypeLabels,
  announcementTypes,
  linkTypeLabels,
} from '@arcade/contract/announcements/fields'
import { textProblem } from '@arcade/contract/bot-message'
import { listPaths } from '@arcade/contract/lists'
import { verifiedByBotTexts } from '@arcade/contract/tasks/fields'
import { type announcementInput, type AnnouncementInput, MAX_SUBTITLE_LENGTH } from '@arcade/contract/announcements/calls'
import { useRef, useState } from 'react'
import { type Control, useWatch } from 'react-hook-form'
import type { z } from 'zod'
import { asCallError, type CallError } from '#src/client/call-error.ts'
import { api, client, makeCreateOnce, queryClient } from '#src/client/client.ts'
import { BackToListButton, useReturnToList } from '#src/lists/back-to-list.tsx'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { ScheduleSection } from '#src/lists/schedule-section.tsx'
import { useConfirm } from '#src/ui/confirm.tsx'
import { CheckboxField } from '#src/ui/form-checkbox.tsx'
import { DraftOffer, useDraftForm } from '#src/ui/form-draft.tsx'
import { NumberField } from '#src/ui/form-number.tsx'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { FormPanel, Preview } from '#src/ui/form-page.tsx'
import {
  Form,
  FormActions,
  FormColumns,
  OtherSubmitButton,
  SelectField,
  SubmitButton,
  TextareaField,
  TextField,
} from '#src/ui/form.tsx'
import { toast } from '#src/ui/toast.tsx'
import { useUnsaved } from '#src/ui/unsaved.ts'
import { MERGE_BEGINS, MergeVersions, SAVE_MERGED, useMerge } from '#src/versions/merge.tsx'
import classes from './announcements.module.css'
import { previewAddress, type ChosenFile, FileField } from './file-field.tsx'
import { type FormFile, keyOrName, storedFile, useFile } from './form-file.ts'
import { empty, toValues, usedValues } from './form-values.ts'
import { activateAgainQuestion, keepLiveQuestion, toggleStatus } from './toggle-status.tsx'

const SUCCESS_DELAY_MS = 2000 // §4: after a create, not after an update
const FAILURE_DELAY_MS = 1000 // §4

interface AnnouncementFormProps {
  /** The announcement to edit; without one the form adds an announcement. */
  announcement?: Announcement
  /** Loads the announcement again. */
  onReload?: () => void
  /** The announcement that the new one is a copy of, and the copies of its files. */
  source?: Announcement
  files?: { image: ChosenFile; icon: ChosenFile }
}

export function AnnouncementForm({ announcement, onReload, source, files }: AnnouncementFormProps) {
  const image = useFile(files?.image ?? storedFile(announcement?.image, announcement?.imageName))
  const icon = useFile(files?.icon ?? storedFile(announcement?.icon, announcement?.iconName))
  const form = useAnnouncementForm(announcement, source, { image, icon })
  const merging = useMergeWithFiles(announcement, form, { image, icon })
  const handleSubmit = useSave(announcement, form, { image, icon }, merging)
  useUnsaved(image.isChanged || icon.isChanged)

  const { newer } = merging.merge
  /** The newest known version. Undefined if a save was stale and the newer version could not be loaded: its status may have changed. */
  const newest = newer?.record ?? (form.refusal?.code === 'STALE' ? undefined : announcement)
  const isLive = newest?.status === true

  return (
    <>
      <AnnouncementPreview control={form.control} image={image.field.value} icon={icon.field.value} />
      <FormPanel>
        <DraftOffer offer={form.offer} />
        <Form form={form} onSubmit={handleSubmit} label={announcement ? 'Update Announcement' : 'Add Announcement'}>
          {isLive && (
            <p className={classes['notice']}>
              This announcement is Active. Update makes it In Active; players see it again once it is activated. Update and keep
              live tells no player, Update and activate tells all again.
            </p>
          )}
          <TextWarning control={form.control} image={image.field.value} />
          <MergeVersions merge={merging.merge} formValues={merging.formValues} onChoose={merging.handleChoice} />
          <FormColumns>
            <AnnouncementFields control={form.control} />
            <FileField label="Image" {...image.field} />
            <FileField label="Icon" {...icon.field} />
          </FormColumns>
          <ScheduleSection control={form.control} kind="announcement" original={source} />
          <FormActions
            back={<BackToListButton to={listPaths.announcements} />}
            notice={<FormRefusal form={form} onReload={onReload} />}
          >
            <SubmitButton>{newer ? SAVE_MERGED : announcement ? 'Update' : 'Add Annoucement' /* sic, §2 */}</SubmitButton>
            {isLive && (
              <LiveUpdateButtons announcement={announcement} form={form} image={image.field.value} onSubmit={handleSubmit} />
            )}
          </FormActions>
        </Form>
      </FormPanel>
    </>
  )
}

type DraftForm = ReturnType<typeof useAnnouncementForm>

function useAnnouncementForm(announcement: Announcement | undefined, source: Announcement | undefined, { image, icon }: Files) {
  const first = announcement ?? source
  const form = useDraftForm(
    () => import('@arcade/contract/announcements/calls').then(({ announcementInput }) => announcementInput),
    first ? toValues(first, { isCopy: announcement === undefined }) : empty,
    {
      name: `announcement ${announcement?.id ?? (source ? `copy of ${source.id}` : 'new')}`,
      basis: announcement?.version,
      used: usedValues,
    },
  )
  /** Sends nothing while the message about a refused file stands at its field. */
  const submit: typeof form.submit = (send) =>
    form.submit(async (values) => ((await image.isRefused()) || (await icon.isRefused()) ? undefined : send(values)))
  return { ...form, submit }
}

interface Files {
  image: FormFile
  icon: FormFile
}

type Merging = ReturnType<typeof useMergeWithFiles>

/** Merges the form and its files with a version that somebody else saved meanwhile. */
function useMergeWithFiles(announcement: Announcement | undefined, form: DraftForm, { image, icon }: Files) {
  const merge = useMerge({
    kind: 'announcement',
    record: announcement,
    load: () => client.announcements.get({ id: announcement?.id ?? '' }),
    toValues: (saved) => ({ ...usedValues(toValues(saved)), image: saved.image, icon: saved.icon }),
    alsoTold: ['status'],
    decides: { type: ['description', 'link', 'linkType', 'inputText'], linkType: ['inputText'] },
  })
  /** The form's files when a save was refused as stale. In the merge the operator may replace them and choose them again. */
  const ownFiles = useRef<{ image: ChosenFile; icon: ChosenFile }>({ image: undefined, icon: undefined })
  return {
    merge,
    /** Call it after a stale save. */
    begin() {
      ownFiles.current = { image: image.field.value, icon: icon.field.value }
      return merge.begin()
    },
    /** Returns what the form would save now, with the key or name of each file. */
    formValues: () => ({
      ...usedValues(form.getValues()),
      image: keyOrName(image.field.value),
      icon: keyOrName(icon.field.value),
    }),
    handleChoice: (name: string, value: unknown) => {
      if (name !== 'image' && name !== 'icon') return form.setValue(name as 'title', value as string, { shouldDirty: true })
      const newer = merge.newer?.record
      const isTheirs = value === (newer?.[name] ?? null)
      return { image, icon }[name].change(isTheirs ? storedFile(newer?.[name], newer?.[`${name}Name`]) : ownFiles.current[name])
    },
  }
}

interface Saving {
  /** Without it, an update makes the announcement In Active (§4). */
  staysActive?: boolean
}

/** Returns the form's submit handler: it uploads the files, saves the announcement and goes to the list. */
function useSave(announcement: Announcement | undefined, form: DraftForm, { image, icon }: Files, merging: Merging) {
  const returnToList = useReturnToList(listPaths.announcements)
  const [createOnce] = useState(makeCreateOnce)

  const save = async (values: AnnouncementInput, how: Saving) => {
    const [sentImage, sentIcon] = [await image.send(), await icon.send()]
    const input = { ...values, image: sentImage.key, imageName: sentImage.name, icon: sentIcon.key, iconName: sentIcon.name }
    const version = merging.merge.version()
    if (announcement) await client.announcements.update({ ...input, ...how, id: announcement.id, version })
    else await createOnce((options) => client.announcements.create(input, options))
    return input
  }
  const handleSaved = async (saved: Pick<Announcement, 'image' | 'icon'>) => {
    form.finish()
    // The cached list refers to files that no longer exist.
    const isOther = saved.image !== (announcement?.image ?? null) || saved.icon !== (announcement?.icon ?? null)
    if (announcement && isOther) queryClient.removeQueries({ queryKey: api.announcements.list.key() })
    if (announcement) toast.success('Announcement Updated Successfully!')
    else toast.success('Announcement Created Successfully!', { delayMs: SUCCESS_DELAY_MS })
    await returnToList()
    await refreshAfterActOn('announcements')
  }
  const handleFailed = async (error: CallError) => {
    if (error.code === 'STALE' && (await merging.begin())) toast.note(MERGE_BEGINS)
    else
      toast.failure(announcement ? 'Error Updating Announcement!' : 'Error Creating Announcement!', {
        delayMs: FAILURE_DELAY_MS,
        detail: error.message,
      })
    image.refuse(error.fields['image'])
    icon.refuse(error.fields['icon'])
    // A message that is shown at a file field is not repeated below the form.
    return Object.keys(error.fields).length > 0 ? { fields: error.fields } : error
  }
  return async (values: AnnouncementInput, how: Saving = {}) => {
    try {
      await handleSaved(await save(values, how))
      return undefined
    } catch (cause) {
      return handleFailed(asCallError(cause))
    }
  }
}

interface LiveUpdateButtonsProps {
  announcement: Announcement | undefined
  form: DraftForm
  image: ChosenFile
  onSubmit: ReturnType<typeof useSave>
}

/** The buttons that update an active announcement and keep it live, or activate it again. */
function LiveUpdateButtons({ announcement, form, image, onSubmit }: LiveUpdateButtonsProps) {
  const confirm = useConfirm()

  /** For what need not be news, such as a typo. */
  const handleUpdateAndKeepLive = async (values: AnnouncementInput) =>
    (await confirm(keepLiveQuestion(values.title))) ? onSubmit(values, { staysActive: true }) : undefined

  /** Asks, saves and activates. The question comes first, because its Cancel must leave the announcement as it is: active. */
  const handleUpdateAndActivate = async (values: AnnouncementInput) => {
    if (!announcement) return undefined
    const { id } = announcement
    const written = { ...values, id, status: false, image: previewAddress(image) ?? null }
    if (!(await confirm(activateAgainQuestion(written)))) return undefined
    const problem = await onSubmit(values)
    if (!problem) await toggleStatus(written)
    return problem
  }

  return (
    <>
      <OtherSubmitButton onClick={() => void form.submit(handleUpdateAndKeepLive)}>Update and keep live</OtherSubmitButton>
      <OtherSubmitButton onClick={() => void form.submit(handleUpdateAndActivate)}>Update and activate</OtherSubmitButton>
    </>
  )
}

type FormControl = Control<z.input<typeof announcementInput>, unknown, AnnouncementInput>

/** All fields but the files. The type and the link type decide which of them are shown. */
function AnnouncementFields({ control }: { control: FormControl }) {
  const [type, linkType] = useWatch({ control, name: ['type', 'linkType'] })
  return (
    <>
      <SelectField
        control={control}
        name="type"
        label="Type"
        isRequired
        placeholder="Select a type"
        options={announcementTypes.map((value) => ({ value, label: announcementTypeLabels[value] }))}
      />
      <TextField control={control} name="title" label="Title" isRequired />
      <TextField control={control} name="subtitle" label="Subtitle" isRequired isWide countsTo={MAX_SUBTITLE_LENGTH} />
      {type === 'desc' && <TextareaField control={control} name="description" label="Description" isWide />}
      {type === 'link' && (
        <>
          <TextField control={control} name="link" label="Link" isRequired type="url" placeholder="https://" />
          <SelectField
            control={control}
            name="linkType"
            label="Link Type"
            isRequired
            placeholder="Select a link type"
            options={Object.entries(linkTypeLabels).map(([value, label]) => ({ value, label }))}
          />
          {linkType === 'input' && <TextField control={control} name="inputText" label="Input Text" />}
        </>
      )}
      <NumberField control={control} name="reward" label="Reward" isRequired />
      <CheckboxField control={control} name="verifiedByBot" {...verifiedByBotTexts} />
    </>
  )
}

interface WrittenProps {
  control: FormControl
  image: ChosenFile
}

/** Warns that a text is too long for Telegram. It can be saved all the same, because the bot decides how to send it. */
function TextWarning({ control, image }: WrittenProps) {
  const values = useWatch({ control })
  const problem = textProblem(toBotItem({ ...values, image: previewAddress(image) }))
  return (
    <div aria-live="polite">
      {problem !== undefined && <p className={classes['notice']}>{`${problem} It can be saved as it is.`}</p>}
    </div>
  )
}

function AnnouncementPreview({ control, image, icon }: WrittenProps & { icon: ChosenFile }) {
  const values = useWatch({ control })
  return <Preview item={{ ...toBotItem({ ...values, image: previewAddress(image) }), icon: previewAddress(icon) }} />
}
