/**
 * Keeps the page working while the browser translates it. Chrome's Translate replaces each text node by `<font>` elements. React still
 * holds the text node: its changes would not be seen, and removing it would fail and end the app. Here the text node returns to the page
 * as soon as React changes, moves or removes it, or inserts something before it. The browser then translates the new text.
 */

/** The text nodes that an element of a translation stands for, in their order. */
const originals = new WeakMap<Node, Text[]>()
/** The element that stands for a text node. */
const standIns = new WeakMap<Node, Element>()

const observer = new MutationObserver(handleChanges)
let isTranslated = false

/** Call this before the first render. It looks for `<font>` among added elements; everything else begins with the first one. */
export function watchTranslation(): void {
  observer.observe(document, { childList: true, subtree: true })
}

function handleChanges(records: readonly MutationRecord[]): void {
  const added = new Set<Node>()
  for (const record of records) {
    for (const node of record.addedNodes) if (node.nodeName === 'FONT') added.add(node)
    if (added.size > 0) noteReplaced(record, added)
  }
  if (added.size > 0 && !isTranslated) acceptTranslation()
  for (const { type, target } of records) if (type === 'characterData') putBack(target)
}

/** @param added the elements of a translation that were added at the same time */
function noteReplaced(
  { addedNodes, previousSibling, nextSibling, removedNodes }: MutationRecord,
  added: ReadonlySet<Node>,
): void {
  const isStandIn = (node: Node | null): node is Element => node !== null && added.has(node)
  const near = [...addedNodes, previousSibling, nextSibling].filter(isStandIn)
  const standIn = near.find((one) => !originals.has(one)) ?? near[0]
  if (!standIn) return
  for (const text of removedNodes) {
    if (!(text instanceof Text)) continue
    standIns.set(text, standIn)
    originals.set(standIn, [...(originals.get(standIn) ?? []), text])
    observer.observe(text, { characterData: true }) // the node is outside the document that is observed
  }
}

/** Puts a text node, and others that the same element stands for, back into the page. Does nothing for other nodes. */
function putBack(node: Node): void {
  const standIn = node.parentNode ? undefined : standIns.get(node)
  const texts = standIn && originals.get(standIn)
  if (!texts) return
  for (const text of texts) standIns.delete(text)
  originals.delete(standIn)
  standIn.replaceWith(...texts)
}

/** Makes React's calls work for text nodes that a translation has replaced. */
function acceptTranslation(): void {
  isTranslated = true
  // A text node that React changes between its removal and the call of `handleChanges` is reported, too.
  observer.observe(document, { childList: true, subtree: true, characterData: true })
  // oxlint-disable-next-line typescript/unbound-method -- they are called with the `this` of the call that they replace
  const { appendChild, insertBefore, removeChild } = Node.prototype
  const prepare = (node: Node | null): void => {
    if (!node || node.parentNode) return
    handleChanges(observer.takeRecords())
    putBack(node)
  }
  Object.assign(Node.prototype, {
    appendChild(this: Node, node: Node): Node {
      prepare(node)
      return appendChild.call(this, node)
    },
    insertBefore(this: Node, node: Node, next: Node | null): Node {
      prepare(node)
      prepare(next)
      return insertBefore.call(this, node, next)
    },
    removeChild(this: Node, node: Node): Node {
      prepare(node)
      return removeChild.call(this, node)
    },
  })
}
