/**
 * The trash: the statement that deletes rows moves them there whole, with the id of its act (ADR 14). Their unique values are free again at
 * once. features/trash/ restores records and purges those that have expired.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { RowOf, StoredName } from '@arcade/contract/entity'
import type { TrashKind } from '@arcade/contract/trash/fields'
import type { Act } from './audit.ts'
import { type Entity, storedFields } from '#src/db/entities.ts'
import type { Tables } from '#src/db/tables.ts'

interface Removal<E extends Entity> {
  entity: E
  kind: TrashKind
  /** The column with the name that operators see. */
  nameColumn: string
  where: RawBuilder<boolean>
}

type StoredRow<E extends Entity> = Pick<RowOf<E['fields']>, StoredName<E['fields']>>

export interface Trash {
  /**
   * Returns an INSERT of one trash record for each row of `source`, to be a part of the statement that deletes the rows.
   * @param source a SELECT of kind, record_id, name and content: JSON with the whole `row` and everything else that a restore brings back
   */
  insert(act: Act, source: RawBuilder<unknown>): RawBuilder<unknown>
  /** Moves rows of a table to the trash and returns them. */
  remove<E extends Entity>(tx: Kysely<Tables>, act: Act, removal: Removal<E>): Promise<StoredRow<E>[]>
}

/** @param days for how many days deleted records can be restored */
export function createTrash(days: number): Trash {
  const trash: Trash = {
    insert({ id, actorId, actorName }, source) {
      return sql`
        insert into trash (id, act_id, kind, record_id, name, content, deleted_by_id, deleted_by, deleted_at, expires_at)
        select gen_random_uuid()::text, ${id}::text, kind, record_id, name, content, ${actorId}::text, ${actorName}::text,
               now(), now() + make_interval(days => ${days})
          from (${source}) as source`
    },

    async remove(tx, act, { entity, kind, nameColumn, where }) {
      const { rows } = await sql`
        with gone as (delete from ${sql.table(entity.table)} where ${where} returning *),
        trashed as (${trash.insert(
          act,
          sql`
          select ${kind}::text as kind, id as record_id, ${sql.ref(nameColumn)} as name, jsonb_build_object('row', to_jsonb(gone)) as content from gone`,
        )})
        select ${sql.join(storedFields(entity))} from gone`.execute(tx)
      return rows as StoredRow<typeof entity>[]
    },
  }
  return trash
}
