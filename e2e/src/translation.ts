/** An imitation of Chrome's Translate, for tests: it cannot be used in an automated browser. */
import type { Page } from '@playwright/test'

/**
 * Does to the page what Chrome's Translate does: each text node, also those that are added later, is replaced by two nested `<font>`
 * elements with the translated text. The texts stay as they are, so that tests can find them.
 */
export async function translate(page: Page): Promise<void> {
  await page.evaluate(() => {
    const translateText = (text: Text) => {
      if (text.data.trim() === '' || text.parentElement?.closest('font, script, style, textarea, option, svg')) return
      const [outer, inner] = [document.createElement('font'), document.createElement('font')]
      inner.textContent = text.data
      outer.style.verticalAlign = 'inherit'
      outer.append(inner)
      text.replaceWith(outer)
    }
    const translateAll = (root: Node) => {
      if (root instanceof Text) return translateText(root)
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
      const texts: Text[] = []
      while (walker.nextNode()) texts.push(walker.currentNode as Text)
      for (const text of texts) translateText(text)
    }
    translateAll(document.body)
    new MutationObserver((records) => {
      for (const node of records.flatMap(({ addedNodes }) => [...addedNodes])) if (node.isConnected) translateAll(node)
    }).observe(document.body, { childList: true, subtree: true })
  })
}
