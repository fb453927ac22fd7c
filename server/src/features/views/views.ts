/** Saved views of lists (design §7). Everyone who can see a view can change and delete it: its owner, or any admin if it is shared. */
import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql, type Transaction } from 'kysely'
import { addressParameters, readAddressFilters } from '@arcade/contract/address-filters'
import type { contract } from '@arcade/contract/contract'
import { errorCatalogue } from '@arcade/contract/errors'
import { lists } from '@arcade/contract/lists'
import { listPermissions, recordPermissions } from '@arcade/contract/team/records'
import { isolated } from '@arcade/contract/text'
import type { View } from '@arcade/contract/views/calls'
import { MAX_VIEWS } from '@arcade/contract/views/fields'
import { type CallContext, Failure, type Handlers, refuseWithoutPermission, signedIn } from '#src/calls.ts'
import { aToZSql, idOrderSql, lower } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { actOf, audit, changesBetween } from '#src/audit/audit.ts'
import { createOnce } from '#src/identity/idempotency.ts'
import { mayTellPersonal, refusePersonalFilters, refuseWithoutPersonal, seesPersonal } from '#src/lists/personal.ts'
import { violatedConstraint } from '#src/postgres/errors.ts'

/** Most views that a list returns: more than people can choose from. The caller's own come first, so none of them is cut off. */
const MAX_SHOWN = 1000

export function viewsHandlers({ database }: { database: Database }): Handlers<typeof contract.views> {
  const { db } = database

  return {
    async list(_input, context) {
      const { id: self } = signedIn(context)
      const views = await db
        .selectFrom('saved_views as v')
        .leftJoin('users as owner', 'owner.id', 'v.owner_id')
        .leftJoin('default_views as d', (join) => join.onRef('d.view_id', '=', 'v.id').on('d.user_id', '=', self))
        .select(['v.id', 'v.list', 'v.name', 'v.address', 'v.version'])
        .select([
          sql<boolean>`v.private_to is null`.as('isShared'),
          sql<boolean>`v.owner_id is not distinct from ${self}`.as('isOwn'),
          sql<string | null>`owner.fname || ' ' || owner.lname`.as('owner'),
          sql<boolean>`d.view_id is not null`.as('isDefault'),
        ])
        .where(isVisibleTo(self))
        .orderBy(sql`v.owner_id is not distinct from ${self}`, 'desc')
        .orderBy(sql.raw(aToZSql('v.name')))
        .orderBy(sql.raw(idOrderSql('v.id')))
        .limit(MAX_SHOWN)
        .execute()
      return { views: views.filter((view) => mayUse(view, context)) satisfies View[] }
    },

    create({ list, name, address, isShared }, context) {
      const { id: owner_id } = signedIn(context)
      refuseAddress({ list, address, isShared }, context)
      refuseUnread(list, address)
      return withClearRefusal(() =>
        createOnce(database, context, {
          async create(tx) {
            await refuseTooMany(tx, owner_id)
            const id = randomUUID()
            await refuseTaken(tx, { id, owner_id, list, name })
            const private_to = isShared ? null : owner_id
            await tx.insertInto('saved_views').values({ id, list, name, address, owner_id, private_to }).execute()
            const changes = changesBetween(null, { name, list, address, isShared })
            await audit(tx, actOf(context), 'view.create', { record: { kind: 'view', id, name }, changes })
            return { success: true, id } as const
          },
        }),
      )
    },

    update({ id, name, address, isShared, version }, context) {
      const { id: self } = signedIn(context)
      return withClearRefusal(() =>
        database.transaction(async (tx) => {
          const before = await tx
            .selectFrom('saved_views')
            .select(['owner_id', 'version', 'list', 'name', 'address', sql<boolean>`private_to is null`.as('isShared')])
            .where('id', '=', id)
            .where(isVisibleTo(self))
            .forUpdate()
            .executeTakeFirst()
          if (!before || !mayUse(before, context)) throw new Failure('NO_SUCH_VIEW')
          refuseAddress({ list: before.list, address: address ?? before.address, isShared }, context)
          if (address !== undefined) refuseUnread(before.list, address)
          if (version !== undefined && before.version !== version) throw new Failure('STALE')
          if (before.isShared && !isShared) await refuseSegment(tx, id, context)
          if (address !== undefined && address !== before.address) await refuseOtherPlayers(tx, id, context)
          // A view that is no longer shared is private to its owner. If it has no owner, the caller becomes its owner.
          const owner_id = before.owner_id ?? (isShared ? null : self)
          await refuseTaken(tx, { id, owner_id, list: before.list, name })
          await tx
            .updateTable('saved_views')
            .set({ name, owner_id, private_to: isShared ? null : owner_id, version: sql`version + 1` })
            .set(address === undefined ? {} : { address })
            .where('id', '=', id)
            .execute()
          const changes = changesBetween(
            { name: before.name, address: before.address, isShared: before.isShared },
            { name, address: address ?? before.address, isShared },
          )
          await audit(tx, actOf(context), 'view.update', { record: { kind: 'view', id, name }, changes })
          return { success: true } as const
        }),
      )
    },

    async remove({ id }, context) {
      await database.transaction(async (tx) => {
        const removed = await tx
          .selectFrom('saved_views')
          .select(['name', 'list', 'address', sql<boolean>`private_to is null`.as('isShared')])
          .where('id', '=', id)
          .where(isVisibleTo(signedIn(context).id))
          .forUpdate()
          .executeTakeFirst()
        if (!removed || !mayUse(removed, context)) throw new Failure('NO_SUCH_VIEW')
        await refuseSegment(tx, id, context)
        await tx.deleteFrom('saved_views').where('id', '=', id).execute()
        const { isShared: _isShared, ...before } = removed
        const record = { kind: 'view', id, name: removed.name } as const
        await audit(tx, actOf(context), 'view.remove', { record, changes: changesBetween(before, null) })
      })
      return { success: true }
    },

    async setDefault({ list, id }, context) {
      const { id: user_id } = signedIn(context)
      if (id === null) {
        await db.deleteFrom('default_views').where('user_id', '=', user_id).where('list', '=', list).execute()
        return { success: true }
      }
      const wanted = await db
        .selectFrom('saved_views')
        .select(['list', 'address', sql<boolean>`private_to is null`.as('isShared')])
        .where('id', '=', id)
        .executeTakeFirst()
      if (!wanted || !mayUse(wanted, context)) throw new Failure('NO_SUCH_VIEW')
      const set = await db
        .insertInto('default_views')
        .columns(['user_id', 'list', 'view_id'])
        .expression((insert) =>
          insert
            .selectFrom('saved_views')
            .select((view) => [view.val(user_id).as('user_id'), 'list', 'id as view_id'])
            .where('id', '=', id)
            .where('list', '=', list)
            .where(isVisibleTo(user_id)),
        )
        .onConflict((conflict) => conflict.columns(['user_id', 'list']).doUpdateSet({ view_id: id }))
        .returning('view_id')
        .executeTakeFirst()
      if (!set) throw new Failure('NO_SUCH_VIEW')
      return { success: true }
    },
  }
}

function isVisibleTo(userId: string): RawBuilder<boolean> {
  return sql<boolean>`(private_to is null or private_to = ${userId})`
}

type Kept = Pick<View, 'list' | 'address' | 'isShared'>

/**
 * Whether a person's role lets them use a view that is visible to them: they may see its list, and if others made it, its address tells
 * nothing about personal fields of players that they may not see.
 */
function mayUse({ list, address, isShared }: Kept, context: CallContext): boolean {
  if (!signedIn(context).permissions.includes(listPermissions[list])) return false
  return seesPersonal(context) || !isShared || !mayTellPersonal(lists[list], address)
}

/**
 * Refuses to save a view of a list that the person may not see, or a shared one that tells something about personal fields that they may not
 * see: a shared view may become a segment, which is searched by all fields.
 * @throws Failure FORBIDDEN
 */
function refuseAddress({ list, address, isShared }: Kept, context: CallContext): void {
  refuseWithoutPermission(listPermissions[list], signedIn(context))
  if (seesPersonal(context)) return
  refusePersonalFilters(lists[list], Object.fromEntries(new URLSearchParams(address)), context)
  if (isShared && mayTellPersonal(lists[list], address)) refuseWithoutPersonal(context)
}

/**
 * Refuses an address that the list's page could not read completely: the view would show more rows than it was made for.
 * @throws Failure INVALID_INPUT with the names of the parts
 */
function refuseUnread(list: View['list'], address: string): void {
  const { unread } = readAddressFilters(lists[list], addressParameters(new URLSearchParams(address)))
  if (unread.length === 0) return
  const message = `The view has parts that its list cannot read: ${unread.join(', ')}.`
  throw new Failure('INVALID_INPUT', { message, fields: { address: message } })
}

/** Most items that a refusal names. */
const NAMED_ITEMS = 5

/**
 * Checks that this view is the segment of no item. The caller has locked the view's row, which the saving of an item with this segment locks,
 * too: either the item is found here, or its saving sees the changed view.
 * @throws Failure VIEW_IS_SEGMENT with the titles of some of the items that the person may see
 */
async function refuseSegment(tx: Transaction<Tables>, id: string, context: CallContext): Promise<void> {
  const items = await findItemsFor(tx, id)
  if (items.length === 0) return
  const { permissions } = signedIn(context)
  const titles = items.flatMap(({ kind, title }) => (permissions.includes(recordPermissions[kind].read) ? [isolated(title)] : []))
  const shown = titles.slice(0, NAMED_ITEMS)
  const named =
    shown.length < items.length ? [...shown, shown.length === 0 ? 'some that your role does not see' : 'others'] : shown
  throw new Failure('VIEW_IS_SEGMENT', { message: `${errorCatalogue.VIEW_IS_SEGMENT.message} They are: ${named.join(', ')}.` })
}

/**
 * Checks that the person may change all items that are for the players of this view, because another address gives them other players.
 * @throws Failure FORBIDDEN
 */
async function refuseOtherPlayers(tx: Transaction<Tables>, id: string, context: CallContext): Promise<void> {
  for (const { kind } of await findItemsFor(tx, id)) refuseWithoutPermission(recordPermissions[kind].write, signedIn(context))
}

/** Returns the items that are for the players of a view. */
async function findItemsFor(tx: Transaction<Tables>, id: string) {
  const { rows } = await sql<{ kind: 'socialTask' | 'dailyTask' | 'announcement'; title: string }>`
    select collection || 'Task' as kind, title from tasks where segment_id = ${id}
     union all select 'announcement', title from announcements where segment_id = ${id} order by title`.execute(tx)
  return rows
}

/** Counts under a lock on the owner's row, so that two simultaneous requests cannot exceed the limit. @throws Failure TOO_MANY_VIEWS */
async function refuseTooMany(tx: Transaction<Tables>, ownerId: string): Promise<void> {
  await tx.selectFrom('users').select('id').where('id', '=', ownerId).forNoKeyUpdate().execute()
  const { count } = await tx
    .selectFrom('saved_views')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('owner_id', '=', ownerId)
    .executeTakeFirstOrThrow()
  if (count >= MAX_VIEWS) throw new Failure('TOO_MANY_VIEWS')
}

/**
 * Checks that no other view of the owner looks the same. The constraint does not see names of earlier versions, which are not in NFC.
 * @throws Failure VIEW_NAME_TAKEN
 */
async function refuseTaken(
  tx: Transaction<Tables>,
  { id, owner_id, list, name }: { id: string; owner_id: string | null; list: View['list']; name: string },
): Promise<void> {
  const other = await tx
    .selectFrom('saved_views')
    .select('id')
    .where('owner_id', '=', owner_id)
    .where('list', '=', list)
    .where('id', '!=', id)
    .where(sql<boolean>`name is not nfc normalized and ${lower(sql`normalize(name, nfc)`)} = ${lower(sql`${name}::text`)}`)
    .executeTakeFirst()
  if (other) throw nameTaken()
}

/** Turns the violation of the unique name into an error of the form field. @throws Failure VIEW_NAME_TAKEN */
async function withClearRefusal<T>(save: () => Promise<T>): Promise<T> {
  return save().catch((cause: unknown) => {
    throw violatedConstraint(cause) === 'saved_views_name_key' ? nameTaken(cause) : cause
  })
}

function nameTaken(cause?: unknown): Failure {
  return new Failure('VIEW_NAME_TAKEN', { fields: { name: 'You have a view of this name already' }, cause })
}
