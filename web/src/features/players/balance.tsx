/** A balance: `1,234,567.5` to look at, `1234567.5` to copy. */
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
