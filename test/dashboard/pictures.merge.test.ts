import { mkdir, mkdtemp, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { chromiumPath } from './browser.ts'
import { visitAs } from './visit.ts'
import { createWorld } from './world.ts'

const maxBytes = 200 * 1024

describe.skipIf(!chromiumPath)('the pictures of the README', () => {
  const world = createWorld()

  test.each([
    ['overview', '/', { width: 1200, height: 800 }],
    ['approval', 'approval', { width: 390, height: 780 }],
  ] as const)('%s can be taken again, and is small', async (name, path, size) => {
    const folder = process.env.PICTURES ?? (await mkdtemp(join(tmpdir(), 'pictures-')))
    await mkdir(folder, { recursive: true })
    const { person, approvalId } = await world.household()
    const { page, close } = await visitAs(world, person)
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(path === 'approval' ? `/approve/${approvalId}` : path)
    await page.getByText('Savannah Supplies Ltd').first().waitFor()
    await page.waitForLoadState('networkidle')
    await page.screenshot({ path: join(folder, `${name}.png`) })
    await close()
    expect((await stat(join(folder, `${name}.png`))).size).toBeLessThanOrEqual(maxBytes)
  })
})
