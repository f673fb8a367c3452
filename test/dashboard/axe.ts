import axe from 'axe-core'
import type { Page } from 'playwright-core'

/**
 * Gives every text a key of all that its contrast depends on: its colour and font, and the backgrounds and places of what is behind it.
 * Marks the first text of each key that is not among the known ones, and returns their keys.
 */
const markNewTexts = `(({ within, known }) => {
  const seen = new Set(known)
  const fresh = []
  const behind = new Map()
  const backgroundOf = (element) => {
    if (!element) return ''
    if (!behind.has(element)) {
      const { backgroundColor, backgroundImage, opacity, position, zIndex, filter, mixBlendMode } = getComputedStyle(element)
      const own = [backgroundColor, backgroundImage, opacity, position, zIndex, filter, mixBlendMode].join()
      behind.set(element, backgroundOf(element.parentElement) + (own === plain ? '' : own + ';'))
    }
    return behind.get(element)
  }
  const plain = 'rgba(0, 0, 0, 0),none,1,static,auto,none,normal'
  for (const element of document.querySelector(within).querySelectorAll('*')) {
    delete element.dataset.newText
    const texts = element.matches('input, select, textarea') || [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    const { width, height } = element.getBoundingClientRect()
    if (!texts || width <= 1 || height <= 1 || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element)
    const key = [color, fontSize, fontWeight, textShadow, element.matches(':disabled, [aria-disabled=true]'), backgroundOf(element)].join()
    if (seen.has(key)) continue
    seen.add(key)
    fresh.push(key)
    element.dataset.newText = ''
  }
  return fresh
})`

const run = (page: Page, within: string, options: object): Promise<string[]> =>
  page.evaluate<string[]>(
    `axe.run(${JSON.stringify(within)}, ${JSON.stringify({ resultTypes: ['violations'], preload: false, elementRef: false, ...options })})
       .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`,
  )

export type Inspector = { inBothThemes: (page: Page, within?: string) => Promise<string[]> }

/**
 * What axe finds wrong, a line a rule. Of its rules only contrast can tell the themes apart, and contrast takes most of its time: a text
 * is looked at once for all pages, in each theme, with everything that its contrast depends on.
 */
export const createInspector = (): Inspector => {
  const known = { light: new Set<string>(), dark: new Set<string>() }
  let theme: 'light' | 'dark' = 'light'
  const contrast = async (page: Page, within: string): Promise<string[]> => {
    const fresh = await page.evaluate<string[]>(`${markNewTexts}(${JSON.stringify({ within, known: [...known[theme]] })})`)
    if (fresh.length === 0) return []
    for (const key of fresh) known[theme].add(key)
    const findings = await run(page, '[data-new-text]', { runOnly: ['color-contrast'] })
    return findings.map((finding) => `${theme}: ${finding}`)
  }
  return {
    inBothThemes: async (page, within = 'html') => {
      if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(axe.source)
      const findings = await run(page, within, { rules: { 'color-contrast': { enabled: false } } })
      // A change of theme lays the page out anew: the next page begins in the one that this one ends in.
      await page.emulateMedia({ colorScheme: theme })
      findings.push(...(await contrast(page, within)))
      theme = theme === 'light' ? 'dark' : 'light'
      await page.emulateMedia({ colorScheme: theme })
      return [...findings, ...(await contrast(page, within))]
    },
  }
}
