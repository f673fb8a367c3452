import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { signIn } from '../../harness/people.ts'
import { shareVisit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const everywhere = (world: World): void => {
  const shared = shareVisit(world)

  test('can be used by keyboard: the skip link first, then sequences of keys; typing in a field is never a shortcut', async () => {
    const { page } = await shared.at('/')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Tab')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    await page.keyboard.press('g')
    await page.keyboard.press('b')
    await page.getByRole('heading', { name: 'Beneficiaries' }).waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main')
    await page.getByLabel('Search').fill('')
    await page.getByLabel('Search').pressSequentially('g p n ?')
    expect(new URL(page.url()).pathname).toBe('/beneficiaries')
    await page.getByRole('heading', { name: 'Beneficiaries' }).click()
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('Go to approvals').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('text is set in the service’s own face, in figures of one width', async () => {
    const { page } = await shared.at('/account')
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    const widths = await page.evaluate<
      number[]
    >(`document.fonts.ready.then(() => ['1111111111', '0000000000', '8888888888'].map((text) => {
      const element = document.querySelector('main').appendChild(document.createElement('span'))
      element.textContent = text
      const { width } = element.getBoundingClientRect()
      element.remove()
      return width
    }))`)
    expect(new Set(widths).size).toBe(1)
    await expect.poll(() => page.evaluate(`document.fonts.check('14px "Geist Variable"')`)).toBe(true)
    await expect.poll(() => page.evaluate('[...document.fonts].map(({ status }) => status)')).toEqual(['loaded'])
  })

  test('a broken connection is shown above the page, and what was missed appears when it is back', async () => {
    const { page, context, person } = await shared.at('/account')
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    await context.setOffline(true)
    await page.getByText('Reconnecting').waitFor()
    await person.api.patch('/v1/accounts/me', { display_name: 'Meanwhile' })
    await context.setOffline(false)
    await page.getByText('Reconnecting').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Account Meanwhile' }).first().waitFor()
  })

  /** Every script outside the document: each lazy page and part. */
  const laterScripts = async (): Promise<(url: URL) => boolean> => {
    const { text } = await world.service.api.get('/')
    return ({ pathname }) => /^\/assets\/.+\.js$/.test(pathname) && !text.includes(pathname)
  }

  test('a page that cannot be loaded without a connection says so inside the frame, and opens by itself when there is one', async () => {
    const { page, context, complaints, close } = await visitAs(world, await signIn(world.service.api))
    await page.goto('/')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    // An earlier visited page opens without a connection.
    await page.getByRole('link', { name: 'Payments' }).click()
    await page.getByRole('heading', { name: 'Payments', exact: true }).waitFor()
    await context.setOffline(true)
    await page.getByRole('link', { name: 'Spending' }).click()
    await page.getByText('This page could not be loaded').waitFor()
    expect(await page.getByRole('navigation', { name: 'Main' }).first().isVisible()).toBe(true)
    await page.getByRole('link', { name: 'Payments' }).click()
    await page.getByRole('heading', { name: 'Payments', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Spending' }).click()
    await page.getByText('This page could not be loaded').waitFor()
    await context.setOffline(false)
    await page.getByRole('heading', { name: 'Spending' }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('a file that a deploy has removed loads the document anew once; a file that stays away is asked for again', async () => {
    const { page, close } = await visitAs(world, await signIn(world.service.api))
    await page.goto('/')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const isLater = await laterScripts()
    let missing = true
    await page.route(isLater, (route) => (missing ? route.fulfill({ status: 404 }) : route.continue()))
    let documents = 0
    page.on('request', (request) => {
      if (request.isNavigationRequest()) documents += 1
    })
    await page.getByRole('link', { name: 'Spending' }).click()
    await page.getByText('This page could not be loaded').waitFor()
    expect(new URL(page.url()).pathname).toBe('/spending')
    expect(documents).toBe(1)
    missing = false
    await page.getByRole('button', { name: 'Try now' }).click()
    await page.getByRole('heading', { name: 'Spending' }).waitFor()
    expect(documents).toBe(1)
    await close()
  })

  test('a bug in one page leaves the frame, and the other pages work', async () => {
    const { page, complaints, close } = await visitAs(world, await signIn(world.service.api))
    await page.route(
      ({ pathname }) => pathname === '/v1/spending-policies',
      (route) => route.fulfill({ json: { data: [null], next_cursor: null } }),
    )
    await page.goto('/policies')
    await page.getByRole('heading', { name: 'This page stopped working' }).waitFor()
    await page.getByRole('link', { name: 'Payments' }).click()
    await page.getByRole('heading', { name: 'Payments', exact: true }).waitFor()
    complaints.length = 0
    await close()
  })

  test('the compressed script and style of each page have at most 160 KB, the face 40 KB, and none of them is inline', async () => {
    const assets = fileURLToPath(new URL('../../../dashboard/dist/assets', import.meta.url))
    const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'))
    // Only a development build of React contains this text.
    for (const name of scripts) expect(readFileSync(`${assets}/${name}`, 'utf8')).not.toContain('jsxDEV')
    const page = await world.service.api.get('/')
    const sizeOf = (names: string[]) => names.reduce((sum, name) => sum + readFileSync(`${assets}/${name}.br`).length, 0)
    const begun = readdirSync(assets).filter((name) => /\.(js|css)$/.test(name) && page.text.includes(name))
    const parts = scripts.filter((name) => !begun.includes(name))
    /** A part with all of its imports, except those of every page. */
    const withImports = (name: string, found = new Set<string>()): Set<string> => {
      if (begun.includes(name) || found.has(name)) return found
      found.add(name)
      for (const [, imported = ''] of readFileSync(`${assets}/${name}`, 'utf8').matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g))
        withImports(imported, found)
      return found
    }
    expect(parts.length).toBeGreaterThan(10)
    for (const part of parts) expect([part, sizeOf([...begun, ...withImports(part)]) <= 160 * 1024]).toEqual([part, true])
    expect(page.text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/i)
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
    const [, asset = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(page.text) ?? []
    const served = await world.service.api.get(asset, { headers: { 'accept-encoding': 'br' } })
    expect(served.headers.get('cache-control')).toContain('immutable')
    expect(served.headers.get('content-encoding')).toBe('br')
    const [, face = ''] = /href="(\/assets\/[^"]+\.woff2)"/.exec(page.text) ?? []
    const font = await world.service.api.get(face)
    expect(font.headers.get('cache-control')).toContain('immutable')
    expect(Number(font.headers.get('content-length'))).toBeLessThanOrEqual(40 * 1024)
    await expect.poll(async () => (await world.service.api.get('/assets/none.js')).status).toBe(404)
    await expect.poll(async () => (await world.service.api.get('/v1/none')).body.error).toBe('not_found')
  })
}
