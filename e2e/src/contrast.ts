/**
 * Computes contrasts that axe reports as incomplete (WCAG 1.4.3), such as text on a gradient or a picture. Backgrounds come from the
 * computed styles of the element and its ancestors; every colour of a gradient counts, and the worst contrast decides. For text on a
 * picture, a screenshot of the pixels below it decides.
 */
import type { Page } from '@playwright/test'

const LARGE_TEXT_PX = 24
const LARGE_BOLD_TEXT_PX = 18.66

/** Returns the selectors of elements whose text has too little contrast, each with its ratio. */
export async function tooFaint(page: Page, selectors: readonly string[]): Promise<string[]> {
  const subjects = await page.evaluate(overPictures, [...new Set(selectors)])
  const style = '*, *::before { color: transparent !important }'
  for (const subject of subjects)
    if (subject.clip) subject.pixels = (await page.screenshot({ clip: subject.clip, style })).toString('base64')
  const contrasts = await page.evaluate(contrastsOf, { subjects, largePx: LARGE_TEXT_PX, largeBoldPx: LARGE_BOLD_TEXT_PX })
  return contrasts.filter(({ ratio, needed }) => ratio < needed).map(({ selector, ratio }) => `${selector} ${ratio.toFixed(2)}:1`)
}

interface Subject {
  selector: string
  /** The element's rectangle on the screen, if it lies on a picture. */
  clip?: { x: number; y: number; width: number; height: number } | undefined
  /** A PNG of that rectangle without its text, in Base64. */
  pixels?: string
}

/** Finds the elements and marks those on pictures. Runs in the page. */
function overPictures(selectors: string[]): Subject[] {
  const pictureBelow = (element: Element | null): boolean => {
    if (!element) return false
    const { backgroundImage, backgroundColor } = getComputedStyle(element)
    if (backgroundImage.includes('url(')) return true
    return /^rgba|transparent|\//.test(backgroundColor) && pictureBelow(element.parentElement)
  }
  return selectors.flatMap((selector) => {
    const element = document.querySelector(selector)
    if (!element) return [] // it has disappeared since axe ran, as a loading row does
    const { x, y, width, height } = element.getBoundingClientRect()
    return [{ selector, ...(pictureBelow(element) && { clip: { x, y, width, height } }) }]
  })
}

/** Returns the worst contrast of each element's text and the required contrast. Runs in the page. */
async function contrastsOf({ subjects, largePx, largeBoldPx }: { subjects: Subject[]; largePx: number; largeBoldPx: number }) {
  type Color = [red: number, green: number, blue: number, alpha: number]
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!
  const parse = (text: string): Color => {
    canvas.canvas.width = canvas.canvas.height = 1
    canvas.fillStyle = text
    canvas.fillRect(0, 0, 1, 1)
    const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data
    return [red, green, blue, alpha / 255]
  }
  const over = ([r, g, b, alpha]: Color, below: Color): Color => {
    const mix = (top: number, bottom: number) => top * alpha + bottom * (1 - alpha)
    return [mix(r, below[0]), mix(g, below[1]), mix(b, below[2]), 1]
  }
  const behind = (node: Element | null): Color[] => {
    if (!node) return [parse('Canvas')]
    const { backgroundColor, backgroundImage } = getComputedStyle(node)
    const own = parse(backgroundColor)
    const base = own[3] === 1 ? [own] : behind(node.parentElement).map((below) => over(own, below))
    const stops = (backgroundImage.match(/(?:rgba?|color|oklab|oklch|hsla?)\([^()]*\)/g) ?? []).map(parse)
    return stops.length === 0 ? base : stops.flatMap((stop) => base.map((below) => over(stop, below)))
  }
  const pixelsOf = async (png: string): Promise<Color[]> => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(png), (char) => char.codePointAt(0)!)]))
    canvas.canvas.width = image.width
    canvas.canvas.height = image.height
    canvas.drawImage(image, 0, 0)
    const { data } = canvas.getImageData(0, 0, image.width, image.height)
    return Array.from({ length: data.length / 4 }, (_, at) => [data[4 * at]!, data[4 * at + 1]!, data[4 * at + 2]!, 1])
  }
  const luminance = ([red, green, blue]: Color): number => {
    const [r = 0, g = 0, b = 0] = [red, green, blue].map((part) => {
      const share = part / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const contrastOf = async ({ selector, pixels }: Subject) => {
    const element = document.querySelector(selector)!
    const { color, fontSize, fontWeight } = getComputedStyle(element)
    let opacity = 1
    for (let node: Element | null = element; node; node = node.parentElement) opacity *= Number(getComputedStyle(node).opacity)
    const [red, green, blue, alpha] = parse(color)
    const ratios = (pixels === undefined ? behind(element) : await pixelsOf(pixels)).map((below) => {
      const both = [luminance(over([red, green, blue, alpha * opacity], below)), luminance(below)]
      return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05)
    })
    const size = Number.parseFloat(fontSize)
    const isLarge = size >= largePx || (size >= largeBoldPx && Number(fontWeight) >= 700)
    return { selector, ratio: ratios.reduce((worst, ratio) => Math.min(worst, ratio)), needed: isLarge ? 3 : 4.5 }
  }
  const contrasts: Awaited<ReturnType<typeof contrastOf>>[] = []
  const present = subjects.filter(({ selector }) => document.querySelector(selector))
  for (const subject of present) contrasts.push(await contrastOf(subject)) // not at once, because they share the canvas
  return contrasts
}
