/** A balance that is shown as `1,234,567.5` and copied as `1234567.5`. */
import classes from './players-page.module.css'

export function Balance({ amount }: { amount: number }) {
  // Not `String(amount)`, which writes 0.00000001 as `1e-8`.
  const plain = amount.toLocaleString('en-US', { maximumFractionDigits: 100, useGrouping: false })
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(.*)$/.exec(plain) ?? []
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
