import { describe } from 'vitest'
import { chromiumPath } from './browser.ts'
import { everywhere } from './flows/everywhere.ts'
import { feeFlows, tariff } from './flows/fees.ts'
import { journeyFlows } from './flows/journeys.ts'
import { longListFlows } from './flows/long-list.ts'
import { paletteFlows } from './flows/palette.ts'
import { pushFlows } from './flows/push.ts'
import { rowFlows } from './flows/rows.ts'
import { servicePages } from './flows/service-pages.ts'
import { smallThings } from './flows/small-things.ts'
import { everyView } from './flows/views.ts'
import { warningFlows } from './flows/warnings.ts'
import { createWorld } from './world.ts'

/** The slowest parts in a browser: every page and role, journeys over several pages, long lists. */
describe.skipIf(!chromiumPath)('every page of the dashboard in a real browser', () => {
  const world = createWorld()
  describe('notices', () => pushFlows(createWorld({ beside: world, notices: true })))
  describe('warnings', () => warningFlows(createWorld({ beside: world })))
  describe('search, roles and activity', () => paletteFlows(world))
  describe('journeys', () => journeyFlows(world))
  describe('everywhere', () => everywhere(world))
  describe('details', () => smallThings(world))
  describe('every view', () => everyView(world))
  describe("the service's own pages", () => servicePages(world))
  describe('rows', () => rowFlows(world))
  describe('a long list', () => longListFlows(world))
  describe('fees', () => feeFlows(createWorld({ beside: world, env: { FEES: JSON.stringify(tariff) } })))
})
