import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { FileField } from './file-field.tsx'
import { useFile } from './form-file.ts'

const field = page.getByLabelText('Image')
const noFile = page.getByText('No file chosen')

function Sample() {
  return <FileField label="Image" {...useFile(undefined).field} />
}

/** Returns an image file of this size, encoded by the browser. */
async function imageFile(name: string, type: 'image/png' | 'image/jpeg' | 'image/webp', width = 30, height = 20): Promise<File> {
  const canvas = new OffscreenCanvas(width, height)
  canvas.getContext('2d')?.fillRect(0, 0, width, height)
  return new File([await canvas.convertToBlob({ type })], name, { type })
}

const choose = (file: File) => userEvent.upload(field, file)

test.for(['image/png', 'image/jpeg', 'image/webp'] as const)('§5 a file of type %s is accepted and shown', async (type) => {
  render(<Sample />)
  await expect.element(noFile).toBeVisible()
  await choose(await imageFile('banner', type))
  await expect.element(page.getByText('banner')).toBeVisible()
  await expect.element(page.getByAltText('Image preview')).toBeVisible()
  await expect.element(field).not.toHaveAttribute('aria-invalid')
})

test('§5 a GIF is accepted', async () => {
  render(<Sample />)
  const pixel = Uint8Array.from(atob('R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs='), (character) => character.codePointAt(0) ?? 0)
  await choose(new File([pixel], 'pixel.gif', { type: 'image/gif' }))
  await expect.element(page.getByText('pixel.gif')).toBeVisible()
})

test.for([
  ['a script with the name of an image', 'evil.png', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
  ['an empty file', 'empty.png', ''],
  ['a text', 'notes.txt', 'GIF8 is how a GIF begins, almost'],
] as const)('§5 %s is refused when it is chosen', async ([, name, content]) => {
  render(<Sample />)
  await choose(new File([content], name, { type: 'image/png' }))
  await expect.element(field).toHaveAccessibleDescription(`No file chosen ${name} must be a PNG, JPEG, WebP or GIF image.`)
  await expect.element(field).toHaveAttribute('aria-invalid', 'true')
  await expect.element(page.getByAltText('Image preview')).not.toBeInTheDocument()
})

test('§5 a truncated image is refused when it is chosen', async () => {
  render(<Sample />)
  const image = await imageFile('half.png', 'image/png')
  await choose(new File([image.slice(0, 20)], 'half.png', { type: 'image/png' }))
  await expect.element(field).toHaveAccessibleDescription('No file chosen half.png is damaged or incomplete.')
})

test('§5 a file of more than 5 MB is refused when it is chosen, and the previous file stays', async () => {
  render(<Sample />)
  await choose(await imageFile('banner.png', 'image/png'))
  await expect.element(page.getByAltText('Image preview')).toBeVisible()
  const image = await imageFile('huge.png', 'image/png')
  await choose(new File([image, new Uint8Array(5 * 1024 * 1024)], 'huge.png', { type: 'image/png' }))
  await expect.element(field).toHaveAccessibleDescription('banner.png huge.png is larger than 5 MB.')
  await expect.element(page.getByAltText('Image preview')).toBeVisible()
})

test('§5 an image of more than 40 megapixels is refused when it is chosen', async () => {
  render(<Sample />)
  await choose(await imageFile('poster.jpg', 'image/jpeg', 8000, 5001))
  await expect.element(field).toHaveAccessibleDescription('No file chosen poster.jpg has more than 40 megapixels.')
})

test('§5 an image of more than 8192 pixels on a side is refused when it is chosen', async () => {
  render(<Sample />)
  await choose(await imageFile('strip.png', 'image/png', 8193, 1))
  await expect.element(field).toHaveAccessibleDescription('No file chosen strip.png has more than 8192 pixels on a side.')
})

test('§5 choosing another file or Clear removes the refusal', async () => {
  render(<Sample />)
  const broken = new File(['nothing'], 'broken.png', { type: 'image/png' })
  await choose(broken)
  await expect.element(field).toHaveAttribute('aria-invalid', 'true')
  await choose(await imageFile('banner.png', 'image/png'))
  await expect.element(field).toHaveAccessibleDescription('banner.png')
  await choose(broken)
  await expect.element(field).toHaveAttribute('aria-invalid', 'true')
  await page.getByRole('button', { name: 'Clear' }).click()
  await expect.element(field).toHaveAccessibleDescription('banner.png') // the file before the refused one
  await expect.element(field).not.toHaveAttribute('aria-invalid')
  await page.getByRole('button', { name: 'Clear' }).click()
  await expect.element(field).toHaveAccessibleDescription('No file chosen')
  await expect.element(field).toHaveFocus()
})

test('the name of a file is shown without characters that turn it around', async () => {
  render(<Sample />)
  await choose(await imageFile('a\u202egnp.png', 'image/png'))
  await expect.element(page.getByText('agnp.png', { exact: true })).toBeVisible()
  await choose(new File(['no image'], 'a\u202egnp.png', { type: 'image/png' }))
  await expect.element(page.getByText('agnp.png must be a PNG, JPEG, WebP or GIF image.', { exact: true })).toBeVisible()
})
