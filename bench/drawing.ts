/**
 * The bare limit of opening a page: React draws the elements that the console draws, without any code of the console. interaction.bench.ts
 * loads this into a page that has the console's style sheets and none of its scripts.
 */
import { createElement, Fragment, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { createRoot, type Root } from 'react-dom/client'

/** A text or an element, with its attributes by React's names. */
export type Drawn = string | { tag: string; attributes: Record<string, unknown>; children: Drawn[] }

let root: Root | undefined
let drawings = 0

/** Replaces the elements of `main`. Returns the time in ms until the frame that shows the new ones. */
async function draw(elements: readonly Drawn[]): Promise<number> {
  const main = document.querySelector('main')!
  if (!root) {
    main.replaceChildren()
    root = createRoot(main)
  }
  drawings += 1
  const started = performance.now()
  flushSync(() => root?.render(createElement(Fragment, { key: drawings }, elements.map(toNode))))
  document.body.getBoundingClientRect() // lays the elements out before the frame, as the console's tables do
  await new Promise(requestAnimationFrame)
  return performance.now() - started
}

function toNode(drawn: Drawn, key: number): ReactNode {
  if (typeof drawn === 'string') return drawn
  const { tag, attributes, children } = drawn
  return createElement(tag, { ...attributes, key }, ...children.map(toNode))
}

Object.assign(globalThis, { draw })
