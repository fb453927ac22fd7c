/** Draws the images of the demo's announcements: an emblem on a gradient, as PNG. Small enough to draw at each start, so none are kept. */
import { crc32, deflateSync } from 'node:zlib'

type Colour = readonly [red: number, green: number, blue: number]

/**
 * How far a point is outside of a shape, as a signed distance: negative inside. The emblem's middle is (0, 0), and it reaches to about 1.
 */
type Shape = (x: number, y: number) => number

const circle =
  (cx: number, cy: number, radius: number): Shape =>
  (x, y) =>
    Math.hypot(x - cx, y - cy) - radius

const box =
  ([cx, cy]: readonly [number, number], [width, height]: readonly [number, number], round: number): Shape =>
  (x, y) => {
    const dx = Math.abs(x - cx) - width + round
    const dy = Math.abs(y - cy) - height + round
    return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - round
  }

/** A polygon by its corners. */
const polygon =
  (corners: readonly (readonly [number, number])[]): Shape =>
  (x, y) => {
    let nearest = Number.POSITIVE_INFINITY
    let isInside = false
    corners.forEach(([ax, ay], index) => {
      const [bx, by] = corners[(index + 1) % corners.length]!
      const along = Math.max(0, Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)))
      nearest = Math.min(nearest, Math.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay)))
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isInside = !isInside
    })
    return isInside ? -nearest : nearest
  }

const all =
  (...shapes: Shape[]): Shape =>
  (x, y) =>
    Math.min(...shapes.map((shape) => shape(x, y)))
const without =
  (shape: Shape, hole: Shape): Shape =>
  (x, y) =>
    Math.max(shape(x, y), -hole(x, y))

const star = polygon(
  Array.from({ length: 10 }, (_, index) => {
    const radius = index % 2 === 0 ? 0.95 : 0.42
    const angle = (index * Math.PI) / 5 - Math.PI / 2
    return [radius * Math.cos(angle), radius * Math.sin(angle)] as const
  }),
)
const bricks = all(
  ...[-0.72, -0.33].flatMap((y, row) =>
    (row === 0 ? [-0.66, 0, 0.66] : [-0.33, 0.33]).map((x) => box([x, y], [0.29, 0.16], 0.05)),
  ),
  circle(0.2, 0.22, 0.15),
  box([0, 0.72], [0.48, 0.1], 0.1),
)
const coin = (x: number, y: number): Shape => all(without(circle(x, y, 0.55), circle(x, y, 0.43)), circle(x, y, 0.28))
const coins = all(coin(-0.42, 0.14), without(coin(0.44, -0.14), circle(-0.42, 0.14, 0.63)))
const ballot = without(
  all(box([0, 0.2], [0.8, 0.5], 0.12), box([0, -0.5], [0.36, 0.34], 0.06)),
  all(box([0, -0.12], [0.5, 0.05], 0.05), box([0, -0.55], [0.2, 0.04], 0.04)),
)
const bubble = without(
  all(
    box([0, -0.15], [0.85, 0.55], 0.3),
    polygon([
      [-0.5, 0.3],
      [-0.55, 0.8],
      [0, 0.3],
    ]),
  ),
  all(circle(-0.4, -0.15, 0.1), circle(0, -0.15, 0.1), circle(0.4, -0.15, 0.1)),
)

interface Look {
  emblem: Shape
  from: Colour
  to: Colour
}

/** The look of each image, by the name of its file. */
const looks = {
  'season-2.png': { emblem: star, from: [24, 32, 88], to: [47, 237, 191] },
  'double-points.png': { emblem: coins, from: [120, 32, 12], to: [255, 184, 41] },
  'brick-rush.png': { emblem: bricks, from: [58, 12, 92], to: [255, 94, 122] },
  'next-skin.png': { emblem: ballot, from: [10, 48, 110], to: [92, 190, 255] },
  'feedback.png': { emblem: bubble, from: [16, 74, 60], to: [163, 230, 83] },
} as const satisfies Record<string, Look>
export type ImageName = keyof typeof looks

const WHITE: Colour = [255, 255, 255]
const mix = (a: Colour, b: Colour, share: number): Colour => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
  a[2] + (b[2] - a[2]) * share,
]
const clamp = (value: number): number => Math.max(0, Math.min(1, value))

/** Draws one of the images. @param size the width and height in pixels */
export function drawImage(name: ImageName, { width, height }: { width: number; height: number }): Buffer {
  const { emblem, from, to } = looks[name]
  const scale = Math.min(width, height) * 0.34
  const lines = Buffer.alloc(height * (1 + 3 * width))
  for (let row = 0, at = 0; row < height; row += 1) {
    at += 1 // a line begins with its filter: 0, none
    for (let column = 0; column < width; column += 1) {
      const [x, y] = [(column + 0.5 - width / 2) / scale, (row + 0.5 - height / 2) / scale]
      const ground = mix(from, to, clamp((column / width + row / height) / 2) ** 1.4)
      const outside = emblem(x, y)
      const glow = 0.35 * Math.exp(-3 * Math.max(0, outside))
      const covered = clamp(0.5 - outside * scale) // the edge is one pixel wide
      for (const part of mix(mix(ground, to, glow), WHITE, covered * 0.94)) lines[at++] = Math.round(part)
    }
  }
  return png(lines, { width, height })
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const BITS = 8
const TRUE_COLOUR = 2

/** Returns a PNG file of lines of red, green and blue bytes, each after its filter. */
function png(lines: Buffer, { width, height }: { width: number; height: number }): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([BITS, TRUE_COLOUR], 8)
  return Buffer.concat([PNG_SIGNATURE, chunk('IHDR', head), chunk('IDAT', deflateSync(lines)), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, checksum])
}
