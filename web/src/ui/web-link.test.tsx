import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { WebLink } from './web-link.tsx'

test.each(['https://t.me/arcade', 'http://x.com/a?b=1', 'HTTPS://T.ME/x'])('security: %s is a link', async (link) => {
  render(<WebLink link={link} />)
  await expect.element(page.getByRole('link', { name: link })).toHaveAttribute('href', link)
})

test('a link that ends in an invisible character does not lead to another page', async () => {
  render(<WebLink link={'https://t.me/arcade\u200b'} />)
  await expect.element(page.getByRole('link')).toHaveAttribute('href', 'https://t.me/arcade')
})

test.each([
  'javascript:alert(1)',
  '\u200bjavascript:alert(1)',
  ' javascript:alert(1)',
  'java\tscript:alert(1)//https://t.me',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  '//elsewhere.test',
  '/admin',
  'https:elsewhere.test',
  't.me/arcade',
])('security: %j is a text', async (link) => {
  render(<WebLink link={link} />)
  await expect.element(page.getByText(link.replace('\u200b', '').trim())).toBeVisible()
  await expect.element(page.getByRole('link')).not.toBeInTheDocument()
})

test('WCAG 2.5.8: a link within text is at least 24 px high and does not make the line higher', async () => {
  render(
    <div style={{ fontSize: '0.875rem', lineHeight: 1.35 }}>
      <p>
        See <a href="#history">the history</a> of it.
      </p>
      <p>No link.</p>
    </div>,
  )
  const link = page.getByRole('link', { name: 'the history' })
  await expect.element(link).toBeVisible()
  const heightOf = (element: Element) => element.getBoundingClientRect().height
  expect(heightOf(link.element())).toBeGreaterThanOrEqual(24)
  const [withLink, without] = Array.from(document.querySelectorAll('p'), heightOf)
  expect(withLink).toBe(without)
})
