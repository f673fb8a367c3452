import type { Page } from 'playwright-core'

const folder = process.env.DASHBOARD_SCREENSHOTS

/** Screenshots for people, if DASHBOARD_SCREENSHOTS names a folder outside the repository. */
export const takeScreenshots = async (page: Page, name: string): Promise<void> => {
  if (!folder) return
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: width === 360 ? 760 : 860 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true })
    }
  }
  await page.setViewportSize({ width: 1280, height: 860 })
}
