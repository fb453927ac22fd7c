import { expect, test } from 'vitest'
import { render } from '#src/testing/render.tsx'
import { watchTranslation } from './translation.ts'

watchTranslation()

/** Waits until the mutation observer has been called. */
const observed = () => new Promise((resolve) => setTimeout(resolve))

function fontWith(text: string): HTMLElement {
  const font = document.createElement('font')
  font.append(document.createElement('font'))
  font.firstElementChild!.textContent = text
  return font
}

const textsIn = (element: Element): Text[] => [...element.childNodes].filter((node) => node instanceof Text)

/** The ways in which a translation may replace the text nodes of an element. */
const ways: Record<string, (element: Element) => void> = {
  'each is replaced': (element) => {
    for (const text of textsIn(element)) text.replaceWith(fontWith(text.data))
  },
  'elements are inserted before them, then they are removed': (element) => {
    for (const text of textsIn(element)) text.before(fontWith(text.data))
    for (const text of textsIn(element)) text.remove()
  },
  'elements are inserted after them, then they are removed': (element) => {
    for (const text of textsIn(element)) {
      text.after(fontWith(text.data))
      text.remove()
    }
  },
  'one element replaces all of them': (element) => {
    const texts = textsIn(element)
    texts[0]?.before(fontWith(texts.map(({ data }) => data).join('')))
    for (const text of texts) text.remove()
  },
}

function Sample({ page, isLast = false, isBold = false }: { page: number; isLast?: boolean; isBold?: boolean }) {
  return (
    <p>
      {isBold && <b>Now: </b>}
      Page {page} of {257}
      {isLast && ' (the last one)'}
    </p>
  )
}

for (const [way, translate] of Object.entries(ways)) {
  test(`Translation: texts go on if ${way}`, async () => {
    const show = render(<Sample page={1} />)
    const shown = document.querySelector('p')!
    translate(shown)
    await observed()
    expect(textsIn(shown)).toEqual([])

    show(<Sample page={2} />)
    await observed()
    expect(shown.textContent).toBe('Page 2 of 257')
    translate(shown)
    await observed()

    show(<Sample page={3} isBold isLast />)
    await observed()
    expect(shown.textContent).toBe('Now: Page 3 of 257 (the last one)')
    translate(shown)
    await observed()

    show(<Sample page={3} />)
    await observed()
    expect(shown.textContent).toBe('Page 3 of 257')
  })
}

test('Translation: a text that React changes before it is known to be replaced shows its new value', async () => {
  const show = render(<Sample page={1} />)
  const shown = document.querySelector('p')!
  ways['each is replaced']!(shown)
  await observed()
  show(<Sample page={2} />)
  await observed()
  ways['each is replaced']!(shown)
  show(<Sample page={3} />)
  await observed()
  expect(shown.textContent).toBe('Page 3 of 257')
})

test('Translation: a text that the translation gave back stays where it is', async () => {
  const show = render(<Sample page={1} />)
  const shown = document.querySelector('p')!
  const texts = textsIn(shown)
  ways['each is replaced']!(shown)
  await observed()
  const fonts = [...shown.children]
  for (const [index, font] of fonts.entries()) font.replaceWith(texts[index]!)
  show(<Sample page={2} isLast />)
  await observed()
  expect(shown.textContent).toBe('Page 2 of 257 (the last one)')
})
