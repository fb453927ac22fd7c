/** A QR code as SVG. Its package is loaded with this file, when a code is shown. */
import { encodeQR } from 'qr'
import { useMemo } from 'react'
import classes from './account.module.css'

/** Modules of quiet zone around the code: four, which ISO/IEC 18004 asks for. */
const QUIET = 4

export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => drawing(text), [text])
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an SVG drawn here is no file for an img
    <svg className={classes['qr']} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

function drawing(text: string): { size: number; path: string } {
  const rows = encodeQR(text, 'raw', { border: QUIET, ecc: 'medium' })
  const squares = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
  return { size: rows.length, path: squares.join('') }
}
