/** The fields that an act changed: label, old value, new value. */
import { isolated } from '@arcade/contract/text'
import type { ChangeInWords } from './change-words.ts'
import classes from './changes-list.module.css'

export function ChangesList({ changes }: { changes: readonly ChangeInWords[] }) {
  return (
    <ul className={classes['changes']}>
      {changes.map(({ name, label, before, after }) => (
        <li key={name}>
          <span className={classes['label']}>{label}</span>
          <span className={classes['values']}>
            {before !== null && (
              <>
                <del className={classes['before']}>{isolated(before)}</del>
                <span aria-hidden className={classes['arrow']}>
                  →
                </span>
              </>
            )}
            <ins className={classes['after']}>{isolated(after ?? '–')}</ins>
          </span>
        </li>
      ))}
    </ul>
  )
}
