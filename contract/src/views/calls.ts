/** Saved views (design §7): a list's search, filters, order, columns and density under a name, private or shared with all admins. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { type ListName, lists } from '#src/lists.ts'
import { idField, textField, versionField } from '#src/field-schemas.ts'
import { typedName } from '#src/text.ts'
import { MAX_VIEW_ADDRESS_LENGTH, MAX_VIEW_NAME_LENGTH } from './fields.ts'

const listField = z.enum(Object.keys(lists) as ListName[])
/**
 * The query string of the list's page. No view is saved with a part that the page cannot read; one that has it nevertheless, such as a
 * removed filter, is opened without it.
 */
const addressField = z
  .string()
  .max(MAX_VIEW_ADDRESS_LENGTH, `The view must be at most ${MAX_VIEW_ADDRESS_LENGTH} characters of an address`)
  .regex(/^[^\s#?]*$/, 'The view must be the part of an address behind its question mark')

const nameField = textField('Name', MAX_VIEW_NAME_LENGTH).overwrite(typedName)

/** The form for a view. */
export const viewInput = z.strictObject({ name: nameField, isShared: z.boolean() })
export type ViewInput = z.infer<typeof viewInput>

export const view = z.object({
  id: idField,
  list: listField,
  name: z.string(),
  address: z.string(),
  isShared: z.boolean(),
  isOwn: z.boolean(),
  /** The first and last name of the owner; null if the user no longer exists. */
  owner: z.string().nullable(),
  /** Whether the list opens with this view for the current user. */
  isDefault: z.boolean(),
  version: z.int(),
})
export type View = z.infer<typeof view>

const done = z.object({ success: z.literal(true) })
const tags = ['Views']

export const views = {
  list: call(['admin'], { needs: 'views.own' })
    .route({ method: 'GET', path: '/api/views', tags, summary: 'One’s own views and the shared ones, by name' })
    .output(z.object({ views: z.array(view) })),
  create: call(['admin'], { needs: 'views.own', heedsIdempotencyKey: true })
    .route({ method: 'POST', path: '/api/views', tags, summary: 'Save a view of a list' })
    .input(viewInput.extend({ list: listField, address: addressField }))
    .output(done.extend({ id: idField })),
  update: call(['admin'], { needs: 'views.own' })
    .route({
      method: 'PATCH',
      path: '/api/views/{id}',
      tags,
      summary: 'Rename a view, share it or not, and perhaps save another address in it',
    })
    .input(viewInput.extend({ id: idField, address: addressField.optional(), version: versionField.optional() }))
    .output(done),
  remove: call(['admin'], { needs: 'views.own' })
    .route({ method: 'DELETE', path: '/api/views/{id}', tags, summary: 'Delete a view' })
    .input(z.strictObject({ id: idField }))
    .output(done),
  setDefault: call(['admin'], { needs: 'views.own' })
    .route({
      method: 'PUT',
      path: '/api/default-views/{list}',
      tags,
      summary: 'Choose the view that oneself sees first of a list, or none',
    })
    .input(z.strictObject({ list: listField, id: idField.nullable() }))
    .output(done),
}
