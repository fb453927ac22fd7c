/** Announcements (§2, §3, §5, §7) with their files, and GET /update-users-status, which tells players that there is news. */
import { z } from 'zod'
import { MAX_BULK_BODY_BYTES, bulkOutput, bulkRun, bulkTarget } from '#src/bulk.ts'
import { call } from '#src/call.ts'
import { announcementFields, announcementList, announcementTypes, type LinkType } from './fields.ts'
import { filterSchema, orderFields, rowSchema } from '#src/list-schemas.ts'
import {
  idField,
  linkField,
  pageField,
  pageFields,
  rewardField,
  textField,
  verifiedByBotField,
  versionField,
} from '#src/field-schemas.ts'
import { asRefinement, availabilityInput, budgetPaysReward, endsAfterStart, shiftInput } from '#src/items/availability.ts'
import { shownFileName, typedText } from '#src/text.ts'
import { storedFileInput, storedFileOutput } from '#src/stored-file.ts'
import { restoreInput, restoreOutput } from '#src/versions.ts'

export const MAX_SUBTITLE_LENGTH = 60 // §9
export const MAX_ANNOUNCEMENT_TITLE_LENGTH = 200
export const MAX_DESCRIPTION_LENGTH = 4096 // the limit of a Telegram message
export const MAX_INPUT_TEXT_LENGTH = 200
export const MAX_FILE_NAME_LENGTH = 255

export const MAX_UPLOAD_BYTES = 5 * 1024 * 1024
/** Limit for all frames of an animation together. */
export const MAX_UPLOAD_PIXELS = 40_000_000
export const MAX_UPLOAD_SIDE_PIXELS = 8192
export const MAX_UPLOAD_FRAMES = 1000
/** For the `accept` attribute of file inputs. The server checks a file's content instead. */
export const UPLOAD_MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const

/** A stored file's key is `announcements/{timestamp}_{name}` (§7); its URL is `fileUrl(key)`. */
export const fileKeyField = z.string().regex(/^announcements\/\d{13}_[A-Za-z0-9._-]{1,120}$/, 'There is no such file.')

const optionalText = (label: string, maxLength: number) =>
  z
    .string(`${label} must be a text`)
    .overwrite(typedText)
    .max(maxLength, `${label} must be at most ${maxLength} characters`)
    .optional()
const fileKey = fileKeyField.nullable().default(null)
const fileName = z
  .string()
  .overwrite(shownFileName)
  .max(MAX_FILE_NAME_LENGTH, `A file name has at most ${MAX_FILE_NAME_LENGTH} characters`)
  .nullable()
  .default(null)

const fields = {
  type: z.enum(announcementTypes, 'Type is required!'),
  title: textField('Title', MAX_ANNOUNCEMENT_TITLE_LENGTH),
  subtitle: textField('Subtitle', MAX_SUBTITLE_LENGTH),
  description: optionalText('Description', MAX_DESCRIPTION_LENGTH),
  link: linkField,
  linkType: z.enum(['input', 'noInput'], 'Link Type is required').optional(),
  inputText: optionalText('Input Text', MAX_INPUT_TEXT_LENGTH),
  reward: rewardField,
  verifiedByBot: verifiedByBotField,
  ...availabilityInput,
  /** Keys are those that the upload returned, null for no file. Names are only displayed. */
  image: fileKey,
  imageName: fileName,
  icon: fileKey,
  iconName: fileName,
}

/**
 * For an update that is not news, such as a typo mended: the announcement stays active and no player is told. An announcement that is
 * inactive by then is refused as STALE. Left out or false, the status becomes false (§4).
 */
const staysActive = z.boolean().default(false)

interface LinkPart {
  type: 'desc' | 'link'
  link?: string | undefined
  linkType?: LinkType | undefined
}
type Refinement = [
  (input: LinkPart) => boolean,
  { path: string[]; message: string; when: (payload: { value: unknown }) => boolean },
]

/** Validates the rules of the type `link` even while other fields are invalid, so that the form shows all errors at once. */
const isLink = ({ value }: { value: unknown }) =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'link'
const hasALink: Refinement = [
  ({ link }) => link !== undefined && link !== '',
  { path: ['link'], message: 'Invalid URL format', when: isLink },
]
const hasALinkType: Refinement = [
  ({ linkType }) => linkType !== undefined,
  { path: ['linkType'], message: 'Link Type is required', when: isLink },
]

/** The input of the add and edit forms (§7). The server drops fields that the type or link type does not use. */
export const announcementInput = z
  .strictObject(fields)
  .refine(...hasALink)
  .refine(...hasALinkType)
  .refine(...asRefinement(endsAfterStart))
  .refine(...asRefinement(budgetPaysReward))
export type AnnouncementInput = z.infer<typeof announcementInput>

export const announcement = rowSchema(announcementFields)
export const announcementsFilter = filterSchema(announcementList)
const done = z.object({ success: z.literal(true) })
const tags = ['Announcements']

export const announcements = {
  list: call(['admin'], {
    needs: 'announcements.read',
    unexpected: 'FETCH_ANNOUNCEMENTS_FAILED',
    failure: 'error',
    mayBeSecondOld: true,
  })
    .route({ method: 'GET', path: '/api/announcements', tags, summary: 'Announcements, oldest first, 50 a page' })
    .input(announcementsFilter.extend({ page: pageField, ...orderFields(announcementList) }))
    /** An empty list has the `message` `No annoucements found!` (§8). */
    .output(z.object({ announcements: z.array(announcement), message: z.string().optional(), ...pageFields })),
  get: call(['admin'], { needs: 'announcements.read', failure: 'error' })
    .route({ method: 'GET', path: '/api/announcements/{id}', tags, summary: 'One announcement' })
    .input(z.strictObject({ id: idField }))
    .output(announcement),
  create: call(['admin'], { needs: 'announcements.write', failure: 'error', heedsIdempotencyKey: true })
    .route({ method: 'POST', path: '/api/announcements', tags, summary: 'Add an announcement; its status is false' })
    .input(announcementInput)
    .output(done.extend({ id: idField })),
  update: call(['admin'], { needs: 'announcements.write', failure: 'error' })
    .route({
      method: 'PUT',
      path: '/api/announcements/{id}',
      tags,
      summary: 'Change an announcement; its status becomes false, unless it is active and is to stay so',
    })
    .input(
      z
        .strictObject({ ...fields, id: idField, version: versionField.optional(), staysActive })
        .refine(...hasALink)
        .refine(...hasALinkType)
        .refine(...asRefinement(endsAfterStart))
        .refine(...asRefinement(budgetPaysReward)),
    )
    .output(done),
  restoreVersion: call(['admin'], { needs: 'announcements.write', failure: 'error' })
    .route({
      method: 'POST',
      path: '/api/announcements/{id}/restore',
      tags,
      summary: 'Restore the version of an announcement that an audit entry recorded; its status becomes false',
    })
    .input(restoreInput)
    .output(restoreOutput),
  remove: call(['admin'], { needs: 'announcements.write', failure: 'error' })
    .route({
      method: 'DELETE',
      path: '/api/announcements/{id}',
      tags,
      summary: 'Delete an announcement and its files; its history stays',
    })
    .input(z.strictObject({ id: idField }))
    .output(done),
  toggleStatus: call(['admin'], { needs: 'announcements.write', failure: 'error' })
    .route({
      method: 'POST',
      path: '/api/announcements/{id}/status',
      tags,
      summary: 'Toggle the status; STALE unless `status` is the current one',
    })
    .input(z.strictObject({ id: idField, status: z.boolean() }))
    /** `schedule` says which date no longer applies, if there is one: the switch by hand wins. */
    .output(done.extend({ message: z.string(), status: z.boolean(), schedule: z.string().optional() })),
  removeMany: call(['admin'], { needs: 'announcements.write', bodyLimitBytes: MAX_BULK_BODY_BYTES })
    .route({
      method: 'POST',
      path: '/api/announcements/remove',
      tags,
      summary: 'Delete many announcements and their files; their history stays',
    })
    .input(z.strictObject({ target: bulkTarget(announcementsFilter), ...bulkRun }))
    .output(bulkOutput),
  /** Each activated announcement gets a news number of its own. */
  setStatus: call(['admin'], { needs: 'announcements.write', bodyLimitBytes: MAX_BULK_BODY_BYTES })
    .route({ method: 'POST', path: '/api/announcements/status', tags, summary: 'Make many announcements active or inactive' })
    .input(z.strictObject({ target: bulkTarget(announcementsFilter), status: z.boolean(), ...bulkRun }))
    .output(bulkOutput.extend({ schedule: z.string().optional() })),
  /** Moves dates that are still to come. Refuses an announcement that has none, or whose new date would be in the past. */
  shift: call(['admin'], { needs: 'announcements.write', bodyLimitBytes: MAX_BULK_BODY_BYTES })
    .route({ method: 'POST', path: '/api/announcements/shift', tags, summary: 'Move the starts and ends of many announcements' })
    .input(shiftInput(bulkTarget(announcementsFilter)))
    .output(bulkOutput),
  /** Drafts stay as they are. */
  end: call(['admin'], { needs: 'announcements.write', bodyLimitBytes: MAX_BULK_BODY_BYTES })
    .route({
      method: 'POST',
      path: '/api/announcements/end',
      tags,
      summary: 'End many announcements now; their status becomes false',
    })
    .input(z.strictObject({ target: bulkTarget(announcementsFilter), ...bulkRun }))
    .output(bulkOutput),
  /** The copy is a draft without dates; its image and icon are copies too. */
  duplicate: call(['admin'], { needs: 'announcements.write', failure: 'error', heedsIdempotencyKey: true })
    .route({
      method: 'POST',
      path: '/api/announcements/{id}/duplicate',
      tags,
      summary: 'Add a draft that is a copy of an announcement',
    })
    .input(z.strictObject({ id: idField }))
    .output(done.extend({ id: idField })),
  updateUsersStatus: call(['admin', 'bot:play'], { needs: 'announcements.write', changesState: true, failure: 'success' })
    .route({
      method: 'GET',
      path: '/update-users-status',
      tags,
      summary: 'Give active announcements without a news number one, so that players are notified',
    })
    .output(z.object({ success: z.literal('success'), message: z.string() })),
  upload: call(['admin'], {
    needs: 'announcements.write',
    failure: 'error',
    bodyLimitBytes: MAX_UPLOAD_BYTES,
    heedsIdempotencyKey: true,
  })
    .route({
      method: 'POST',
      path: '/api/files/announcements',
      tags,
      summary:
        'Store an image (PNG, JPEG, WebP or GIF): the body is the file as it is. Unless an announcement names it, it is gone after an hour',
      inputStructure: 'detailed',
    })
    .input(
      z.object({
        query: z.strictObject({ name: z.string().max(1024).default('image') }),
        body: z.custom<unknown>((value) => value instanceof Object),
      }),
    )
    .output(z.object({ key: fileKeyField, name: z.string() })),
  file: call(['admin', 'bot:read'], { needs: ['announcements.read', 'history.read'] })
    .route({
      method: 'GET',
      path: '/api/files/announcements/{name}',
      tags,
      summary: 'A stored image, or its thumbnail',
      outputStructure: 'detailed',
    })
    .input(storedFileInput)
    .output(storedFileOutput),
}
