import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const firstOf = (...paths: readonly (string | undefined)[]) =>
  paths.find((path): path is string => path !== undefined && existsSync(path))

/** A browser to test with, or undefined where none is installed. */
export const chromiumPath = firstOf(
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
)

/** The same engine without a browser's windows, for a sixth less of a processor in all flows. It shows no notices. */
const shellPath = process.env.CHROMIUM_PATH ? undefined : firstOf('/usr/bin/chromium-headless-shell')

if (!chromiumPath) {
  console.warn('\n!!! NO CHROMIUM: the dashboard is NOT tested. Install chromium or name one with CHROMIUM_PATH. !!!\n')
}

/** The last list counts: these are Playwright's own that matter here, and what costs a process and a second for every window. */
const withoutFeatures = [
  'AimEnabled',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  // The list below the address bar, as two pages of its own in every window.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  // A process in reserve after every page.
  'SpareRendererForSitePerProcess',
]

export const showsNotices = shellPath === undefined

/** `notices`: one that shows them. */
export const openBrowser = ({ notices = false } = {}): Promise<Browser> =>
  chromium.launch({
    executablePath: (notices ? undefined : shellPath) ?? chromiumPath ?? '',
    args: [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${withoutFeatures.join(',')}`,
    ],
  })
