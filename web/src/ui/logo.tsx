/** The product's logo and name. */
import classes from './logo.module.css'

export function Logo({ isMarkOnly = false }: { isMarkOnly?: boolean }) {
  return (
    <span className={classes['logo']}>
      <svg viewBox="0 0 32 32" width="34" height="34" aria-hidden>
        <rect
          x="0.75"
          y="0.75"
          width="30.500"
          height="30.500"
          rx="8"
          fill="#111830"
          stroke="#2fedbf"
          strokeOpacity="0.45"
          strokeWidth="1.5"
        />
        <circle cx="16" cy="9.500" r="3.800" fill="#2fedbf" />
        <path d="M16 13v8" stroke="#2fedbf" strokeWidth="2.4" strokeLinecap="round" />
        <path d="M7 25.500v-1.700A2.800 2.800 0 0 1 9.800 21h12.400a2.800 2.800 0 0 1 2.800 2.800v1.700z" fill="#2fedbf" />
      </svg>
      {!isMarkOnly && <span>Arcade Console</span>}
    </span>
  )
}
