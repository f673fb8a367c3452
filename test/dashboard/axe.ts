import axe from 'axe-core'
import type { Page } from 'playwright-core'

type Look = { within?: string; rules?: readonly string[] }

/** What axe finds wrong, a line a rule. Its script is put into each page once, and it works out nothing but violations. */
export const findings = async (page: Page, { within = 'html', rules }: Look = {}): Promise<string[]> => {
  if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(axe.source)
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  return page.evaluate<string[]>(
    `axe.run(${JSON.stringify(within)}, ${JSON.stringify(options)}).then(({ violations }) =>
       violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`,
  )
}
