/** A balance that is shown as `1,234,567.5` and copied as `1234567.5`. */
import { ungroupedExactly } from '#src/ui/numbers.ts'
import classes from './players-page.module.css'

export function Balance({ amount }: { amount: number }) {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(.*)$/.exec(ungroupedExactly(amount)) ?? []
  const groups = whole.match(/\d{1,3}(?=(?:\d{3})*$)/g) ?? []
  return (
    <span className={classes['balance']}>
      {sign}
      {groups.map((group, index) => (
        <span key={groups.length - index}>{group}</span>
      ))}
      {rest}
    </span>
  )
}
