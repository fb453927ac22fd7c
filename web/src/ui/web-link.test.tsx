import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { WebLink } from './web-link.tsx'

test.each(['https://t.me/arcade', 'http://x.com/a?b=1', 'HTTPS://T.ME/x'])('security: %s is a link', async (link) => {
  render(<WebLink link={link} />)
  await expect.element(page.getByRole('link', { name: link })).toHaveAttribute('href', link)
})

test.each([
  'javascript:alert(1)',
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
  await expect.element(page.getByText(link.trim())).toBeVisible()
  await expect.element(page.getByRole('link')).not.toBeInTheDocument()
})
