import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

/** Sent to every checked page. Without comments it is less than half as long. */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Gives every text a key of everything that its contrast depends on: its colour and font, and the backgrounds and places behind
 * it. Marks the first text of each unknown key, and returns their keys. A key is a short hash, because all known ones are sent to
 * the page for each check.
 */
const markNewTexts = `(({ within, known }) => {
  const hash = (text) => {
    let [a, b] = [0, 0]
    for (let at = 0; at < text.length; at += 1) {
      a = Math.imul(a ^ text.charCodeAt(at), 2654435761)
      b = Math.imul(b ^ text.charCodeAt(at), 1597334677)
    }
    return (a >>> 0).toString(36) + (b >>> 0).toString(36)
  }
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
    // Large text may have less contrast (WCAG 1.4.3): 24 pixels, or 18.66 in bold.
    const large = parseFloat(fontSize) >= (fontWeight >= 700 ? 18.66 : 24)
    const key = hash([color, large, textShadow, element.matches(':disabled, [aria-disabled=true]'), backgroundOf(element)].join())
    if (seen.has(key)) continue
    seen.add(key)
    fresh.push(key)
    element.dataset.newText = ''
  }
  return fresh
})`

const options = { resultTypes: ['violations'], preload: false, elementRef: false }

const run = (page: Page, within: string, only: object = {}): Promise<string[]> =>
  page.evaluate<string[]>(
    `axe.run(${JSON.stringify(within)}, ${JSON.stringify({ ...options, ...only })})
       .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`,
  )

/** A colour in transition belongs to neither theme. The end of one transition begins those of inheriting elements. */
const endTransitions = `(() => {
  for (let last = 0; last < 50; last += 1) {
    const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition)
    if (transitions.length === 0) return
    for (const transition of transitions) transition.finish()
  }
})()`

const load = async (page: Page): Promise<void> => {
  if (await page.evaluate("typeof axe === 'object'")) return
  await page.evaluate(axe)
  await page.evaluate("axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-new-text]' }] })")
}

export type Inspector = {
  inBothThemes: (page: Page, within?: string) => Promise<string[]>
  /** Checks only theme-dependent rules: for a page that was inspected and now has another theme of its own. */
  contrastInBothThemes: (page: Page) => Promise<string[]>
}

/**
 * The findings of axe, one line per rule. Only the contrast rule depends on the theme, and it takes most of axe's time. So each
 * text is checked once per theme for all pages, with everything that its contrast depends on.
 */
export const createInspector = (): Inspector => {
  const known = { light: new Set<string>(), dark: new Set<string>() }
  let theme: 'light' | 'dark' = 'light'
  /** Marks the texts with unknown contrast in this theme, and returns whether there are any. */
  const markTexts = async (page: Page, within: string): Promise<boolean> => {
    const fresh = await page.evaluate<string[]>(`${markNewTexts}(${JSON.stringify({ within, known: [...known[theme]] })})`)
    for (const key of fresh) known[theme].add(key)
    return fresh.length > 0
  }
  /** A change of theme costs a new layout, so the next page begins in this one's last theme. */
  const changeTheme = async (page: Page): Promise<void> => {
    theme = theme === 'light' ? 'dark' : 'light'
    await page.emulateMedia({ colorScheme: theme })
  }
  const contrastOfNewTexts = async (page: Page, within: string): Promise<string[]> => {
    await page.evaluate(endTransitions)
    if (!(await markTexts(page, within))) return []
    const contrast = await run(page, '[data-new-text]', { runOnly: ['color-contrast'] })
    return contrast.map((finding) => `${theme}: ${finding}`)
  }
  const inspect = async (page: Page, within: string): Promise<string[]> => {
    await load(page)
    await page.emulateMedia({ colorScheme: theme })
    await markTexts(page, within)
    const findings = (await run(page, within)).map((finding) => `${theme}: ${finding}`)
    await changeTheme(page)
    return [...findings, ...(await contrastOfNewTexts(page, within))]
  }
  return {
    inBothThemes: (page, within = 'html') => inspect(page, within),
    contrastInBothThemes: async (page) => {
      await load(page)
      const findings = await contrastOfNewTexts(page, 'html')
      await changeTheme(page)
      return [...findings, ...(await contrastOfNewTexts(page, 'html'))]
    },
  }
}
