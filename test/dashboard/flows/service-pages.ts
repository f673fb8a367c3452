import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Json } from '../../harness/client.ts'
import { fund } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
import { takeScreenshots } from '../screenshots.ts'
import { desk, phone, visit } from '../visit.ts'
import type { World } from '../world.ts'

const isWide = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth')

/** The schemas that a part of the document refers to, directly or not. */
const only = (components: Json, part: unknown): Json => {
  const kept: Json = {}
  const add = (node: unknown): void => {
    for (const [, name = ''] of JSON.stringify(node).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      if (name in kept) continue
      kept[name] = components.schemas[name]
      add(kept[name])
    }
  }
  add([part, components.responses, components.parameters])
  return { ...components, schemas: kept }
}

/**
 * Known findings of the reference's own dialog for a request. `landmark-no-duplicate-main` (moderate): it lays a whole app, with a main part,
 * over the page and does not make the page inert. A `main` may have no other role, and making the page inert from outside could leave it
 * so after the dialog.
 */
const knownOfTrying = ['landmark-no-duplicate-main']

/** Pages outside the dashboard: each is accessible in both themes, fits a phone, and leads back. */
export const servicePages = (world: World): void => {
  const { inspector } = world

  /** Every finding of axe except the known ones, and parts too wide for a phone. */
  const problemsOf = async (page: Page, name: string, known: readonly string[] = []): Promise<string[]> => {
    const all = await inspector.inBothThemes(page)
    const findings = all.filter((finding) => !known.some((rule) => finding.includes(` ${rule}: `)))
    await page.setViewportSize(phone)
    const wide = await isWide(page)
    await page.setViewportSize(desk)
    await takeScreenshots(page, name)
    return [...findings, ...(wide ? ['is wider than a phone'] : [])].map((finding) => `${name}: ${finding}`)
  }

  test('an address where nothing is, an unknown code and an unknown guide answer a browser with 404, a page and a way back, and a program with JSON', async () => {
    const { page, close } = await visit(world)
    for (const path of ['/nowhere/at/all', '/docs/errors/nonsense', '/docs/guides/nonsense', '/sandbox', '/%E0%A4%A']) {
      const answer = await page.goto(path)
      expect([path, answer?.status()]).toEqual([path, 404])
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
      expect(await problemsOf(page, 'nowhere')).toEqual([])
      const json = await world.service.api.get(path)
      expect([json.status, json.body.error]).toEqual([404, 'not_found'])
    }
    for (const path of ['/v1/nowhere', '/mcp/nowhere', '/.well-known/nowhere', '/nowhere.json']) {
      const json = await world.service.api.get(path, { headers: { accept: 'text/html' } })
      expect([path, json.status, json.headers.get('content-type')]).toEqual([path, 404, 'application/json; charset=utf-8'])
    }
    await page.getByRole('link', { name: 'Go to the overview' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await close()
  })

  test('guides and the pages of codes lead back to the dashboard', async () => {
    const { page, complaints, close } = await visit(world)
    for (const path of ['/docs/guides', '/docs/guides/agents', '/docs/errors', '/docs/errors/policy_denied', '/verify']) {
      await page.goto(path)
      expect(await problemsOf(page, path.slice(1).replaceAll('/', '-'))).toEqual([])
      await expect.poll(() => page.getByRole('link', { name: 'Dashboard', exact: true }).getAttribute('href')).toBe('/')
    }
    expect(complaints).toEqual([])
    await close()
  })

  test('the reference of the API shuts nobody out in either theme, where a request is tried as well, and leads back', {
    timeout: 180_000,
  }, async () => {
    const { page, complaints, close } = await visit(world)
    // One small operation: laying out and checking the whole document takes the browser a minute.
    const { paths, components, tags: _, ...rest } = (await world.service.api.get('/openapi.json')).body
    const small = { ...rest, paths: { '/v1/banks': paths['/v1/banks'] }, components: only(components, paths['/v1/banks']) }
    await page.route('**/openapi.json', (route) => route.fulfill({ json: small }))
    await page.goto('/docs')
    const tryIt = page.getByRole('button', { name: /Test Request/ }).first()
    // The script of the reference has 4 MB.
    await tryIt.waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'Dashboard', exact: true }).getAttribute('href')).toBe('/')
    // A bank is a reference within the answer's reference.
    await page.getByText('Show Schema').first().click()
    await page.getByText('The value for `bank_code`.').first().waitFor()
    expect(await problemsOf(page, 'docs')).toEqual([])
    await page.evaluate("document.body.classList.replace('light-mode', 'dark-mode')")
    expect(await inspector.contrastInBothThemes(page)).toEqual([])
    await takeScreenshots(page, 'docs-dark')
    await tryIt.click()
    await page.getByRole('dialog').first().waitFor()
    expect(await problemsOf(page, 'docs-try', knownOfTrying)).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  test('the page of the provider sandbox shows what happened and its rules, shuts nobody out, and leads back to this service', async () => {
    const { page, close } = await visit(world)
    await fund(world.service, await signIn(world.service.api), 100_000n)
    await page.goto(`${world.service.sandboxUrl}/control`)
    await page
      .getByRole('cell', { name: /stkpush/ })
      .first()
      .waitFor()
    await page.getByLabel('What happens').selectOption('delay')
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByRole('button', { name: 'Remove the rule delay' }).waitFor()
    expect(await problemsOf(page, 'sandbox')).toEqual([])
    await page.getByRole('button', { name: 'Remove the rule delay' }).click()
    await page.getByText('No rules. The providers behave normally.').waitFor()
    await page.getByRole('link', { name: 'Dashboard' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(new URL(page.url()).origin).toBe(world.service.api.url)
    await close()
  })
}
