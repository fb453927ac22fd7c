/** Turns a letter into the two bodies of a mail: plain text, and HTML in which every text is escaped. */
import type { Letter } from './texts.ts'

export interface Bodies {
  subject: string
  text: string
  html: string
}

/** @param origin where the console is, such as `https://console.example.org` */
export function writeLetter({ subject, paragraphs, link }: Letter, origin: string): Bodies {
  const sign = `Arcade Console, ${origin}`
  const lines = paragraphs.map(oneLine)
  const address = link && `${origin}${link.path}`
  const text = [...lines, ...(link ? [`${link.label}:\n${address}`] : []), `-- \n${sign}`].join('\n\n')
  const button = link
    ? `<p style="margin:24px 0"><a href="${escaped(address ?? '')}" style="${BUTTON}">${escaped(link.label)}</a></p>
<p style="margin:0 0 16px;word-break:break-all;color:#555">${escaped(address ?? '')}</p>`
    : ''
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(subject)}</title></head>
<body style="margin:0;padding:24px;background:#f4f5f7;font:16px/1.5 system-ui,sans-serif;color:#1a1b1e">
<div style="max-width:560px;margin:0 auto;padding:32px;background:#fff;border-radius:8px">
<h1 style="margin:0 0 16px;font-size:20px">${escaped(subject)}</h1>
${lines.map((line) => `<p style="margin:0 0 16px">${escaped(line)}</p>`).join('\n')}
${button}
<p style="margin:24px 0 0;font-size:13px;color:#555">${escaped(sign)}</p>
</div></body></html>`
  return { subject, text, html }
}

const BUTTON = 'display:inline-block;padding:10px 20px;background:#0b6b55;color:#fff;border-radius:6px;text-decoration:none'

/** Makes a text that contains a name one line, so that a name cannot pretend to be a paragraph of the console. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
