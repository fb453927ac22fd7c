/** A balance that reads `1,234,567.5` and is copied as `1234567.5`. */
import classes from './players-page.module.css'

export function Balance({ amount }: { amount: number }) {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(.*)$/.exec(String(amount)) ?? []
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
