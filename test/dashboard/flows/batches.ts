import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { batch } from '../../../client/src/cli/batch.ts'
import { registerAtEmulator } from '../../../src/modules/deposits/registration.ts'
import type { Json } from '../../harness/client.ts'
import { fund } from '../../harness/money.ts'
import { createKey, signIn } from '../../harness/people.ts'
import { connectAgent } from '../../mcp/connect.ts'
import { type ListFile, listFiles } from '../../payments/list-files.ts'
import { takeScreenshots } from '../screenshots.ts'
import { desk, follow, loseFirstAnswer, phone, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const rows = `name,phone,amount,narrative
Achieng Otieno,0722000701,450,March salary
Baraka Mwangi,72200070,380.50,March salary
`

const choose = async (page: Page, name: string, bytes: Uint8Array, mimeType = 'text/csv') => {
  const another = page.getByRole('button', { name: 'Choose another file' })
  if ((await another.count()) > 0) await another.click()
  else {
    await follow(page, '/payments/batches')
    await page.getByText('Salaries and other batches').waitFor()
    await follow(page, '/payments/batches/new')
  }
  await page.getByLabel('File').setInputFiles({ name, mimeType, buffer: Buffer.from(bytes) })
}

/** Checks the batch on the page, and returns the service's findings. */
const check = async (page: Page): Promise<Json> => {
  const answer = page.waitForResponse((response) => response.url().includes('dry_run=true'))
  await page.getByRole('button', { name: 'Check batch' }).click()
  return (await answer).json()
}

/** The page's reading of a file: the text that stops a person, the items that would be paid, or the faults on show. */
const onPage = async (page: Page, file: ListFile): Promise<Json> => {
  await choose(page, 'list.csv', file.bytes, file.contentType.split(';')[0])
  const columns = page.getByRole('table', { name: 'Columns' })
  await page.locator('.field-error, .notice').or(columns).first().waitFor()
  const asked = await page.locator('.field-error, .notice').allInnerTexts()
  if ('pays' in file && asked.some((text) => text.includes('Which line looks right?')))
    await page
      .getByRole('listitem')
      .filter({ hasText: file.pays[0]?.[0] ?? '' })
      .getByRole('button')
      .click()
  else if (asked.length > 0) return { says: asked.join('\n') }
  await columns.waitFor()
  const { items, details } = await check(page)
  if (items) await page.getByText('Every row can be paid').waitFor()
  else {
    const refusal = 'says' in file ? file.says : 'cannot be paid, so nothing was created'
    await page.getByText(refusal).first().waitFor()
  }
  return {
    items: items?.map(({ display_name, destination_mask, amount_minor }: Json) => [
      display_name,
      destination_mask.slice(-4),
      amount_minor,
    ]),
    rows: details?.items?.map(({ row }: Json) => row),
    says: await page.locator('main').textContent(),
    asked,
  }
}

const download = async (page: Page, button: string | RegExp): Promise<Json[]> => {
  const started = page.waitForEvent('download')
  await page.getByRole('button', { name: button }).click()
  const text = await readFile(await (await started).path(), 'utf8')
  expect(text.startsWith('\uFEFF')).toBe(true)
  return parse(text, { columns: true, bom: true })
}

export const batchFlows = (world: World): void => {
  test('a batch is mended in place, checked, approved by its lines and their root, followed to its end, and stands in the statement', async () => {
    const payer = await signIn(world.service.api)
    await fund(world.service, payer, 2_000_000n)
    await payer.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '40000' })
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto('/payments/batches/new')
    await page.getByLabel('Or paste the rows').fill(rows)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('March')
    await page.getByRole('button', { name: 'Check batch' }).click()
    await page.getByText('1 row cannot be paid').waitFor()
    await page.getByText('phone: must be a Kenyan mobile number: 07…, 01…, +254… or 254…, with all its digits').waitFor()
    await page.getByLabel('Row 3, phone').fill('0722000702')
    await page.getByLabel('Row 3, amount').fill('380')
    // Typed corrections survive a reload.
    await page.reload()
    await page.getByRole('button', { name: 'Edit row 3' }).click()
    await expect.poll(() => page.getByLabel('Row 3, phone').inputValue()).toBe('0722000702')
    expect(await page.getByPlaceholder('Salaries March').inputValue()).toBe('March')
    await page.getByRole('button', { name: 'Check batch' }).click()
    await page.getByText('Every row can be paid').waitFor()
    await expect.poll(async () => (await payer.api.get('/v1/payment-batches')).body.data).toEqual([])
    await page.getByRole('button', { name: 'Pay this batch' }).dblclick()
    await page.getByRole('heading', { name: 'March' }).waitFor()
    await expect.poll(async () => (await payer.api.get('/v1/payment-batches')).body.data).toHaveLength(1)
    await page.getByText('2 need approval').waitFor()
    await page.getByRole('link', { name: 'View approval' }).click()
    await page.getByText('You approve exactly these lines').waitFor()
    // Both are first payments: a fact that is true of all is not a deviation.
    await page.getByText('No payment looks dangerous or unusual.').waitFor()
    const [batch] = (await payer.api.get('/v1/payment-batches')).body.data
    await payer.api.post(`/v1/approvals/${batch.approval_id}/decide`, { decision: 'approve' })
    await page.goto(`/payments/batches/${batch.id}`)
    const bar = page.getByRole('progressbar')
    await expect.poll(() => bar.getAttribute('aria-valuetext')).toBe('0 of 2 have ended')
    await world.service.settle()
    await bar.and(page.locator('[aria-valuenow="2"]')).waitFor()
    await page.getByText('2 succeeded').waitFor()
    await expect.poll(() => page.getByText(/^Approved by$/).count()).toBe(1)
    await page.getByText('Opened by you').waitFor()
    await takeScreenshots(page, 'batch')
    await page.goto('/statements')
    await page.getByRole('heading', { name: 'Paid out by beneficiary' }).waitFor()
    await page
      .getByRole('cell', { name: /Achieng Otieno/ })
      .first()
      .waitFor()
    expect(complaints).toEqual([])

    const paid = (await payer.api.get('/v1/payments')).body.data
    const idOf = (name: string) => paid.find(({ beneficiary }: Json) => beneficiary.display_name === name)?.beneficiary_id
    await payer.api.delete(`/v1/beneficiaries/${idOf('Baraka Mwangi')}`)
    await page.goto(`/payments/batches/${batch.id}`)
    await page.getByRole('link', { name: 'Pay this batch again' }).click()
    await page.getByRole('cell', { name: 'Baraka Mwangi' }).waitFor()
    expect(await page.locator('main').textContent()).not.toContain('ben_')
    await page.getByRole('textbox', { name: 'Name' }).fill('April')
    await page.getByRole('button', { name: 'Edit row 1' }).click()
    await takeScreenshots(page, 'batch-again')
    // On a phone cells are stacked: no name is broken into letters, and everything is in view.
    await page.setViewportSize(phone)
    const name = await page.getByRole('cell', { name: 'Baraka Mwangi' }).boundingBox()
    expect(name?.width).toBeGreaterThan(150)
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    const edit = await page.getByRole('button', { name: 'Edit row 2' }).boundingBox()
    expect((edit?.x ?? 0) + (edit?.width ?? 0)).toBeLessThanOrEqual(phone.width)
    await page.setViewportSize(desk)
    expect(await page.getByLabel('Row 1, Name').count()).toBe(0)
    await page.getByLabel('Row 1, Amount').fill('475 or so')
    await page.getByLabel('Row 1, Narrative').fill('April salary')
    await page.getByRole('button', { name: 'Check batch' }).click()
    await page.getByText('Amount: "475 or so" is not an amount: write it as 12500 or 12500.50').waitFor()
    await page.getByLabel('Row 1, Amount').fill('475')
    await check(page)
    await page.getByText('Beneficiary is archived: leave the item out').waitFor()
    await page.getByLabel('Row 1, Narrative').fill('April salary'.padEnd(141, '.'))
    await check(page)
    await page.getByText('Narrative: must have at most 140').waitFor()
    await page.getByLabel('Row 1, Narrative').fill('April salary')
    await check(page)
    await page.getByText('Beneficiary is archived: leave the item out').waitFor()
    await page.getByRole('button', { name: 'Remove row 2' }).click()
    expect((await check(page)).items).toMatchObject([{ index: 0, amount_minor: '47500' }])
    const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/v1/payment-batches'))
    await page.getByRole('button', { name: 'Pay this batch' }).click()
    expect((await sent).postDataJSON()).toEqual({
      ...{ again: batch.id, name: 'April' },
      items: [
        { batch_index: 0, amount_minor: '47500', narrative: 'April salary' },
        { batch_index: 1, omit: true },
      ],
    })
    await page.getByRole('heading', { name: 'April' }).waitFor()
    await page.getByRole('link', { name: 'March' }).waitFor()
    const [again] = (await payer.api.get('/v1/payments')).body.data
    expect(again).toMatchObject({
      ...{ beneficiary_id: idOf('Achieng Otieno'), amount_minor: '47500', narrative: 'April salary' },
      ...{ payment_type: paid[0].payment_type, account_reference: null },
    })
    expect(again.batch_id).not.toBe(batch.id)
    await close()
  })

  test('the rows of a long batch stay while they are paid, and paying it again changes the row that a person changed', async () => {
    const payer = await signIn(world.service.api)
    await fund(world.service, payer, 90_000_000n)
    const items = Array.from({ length: 110 }, (_, index) => ({
      display_name: `Fundi ${index + 1}`,
      destination: `07221${String(10_000 + index)}`,
      amount_minor: '10000',
    }))
    const { id } = (await payer.api.post('/v1/payment-batches', { items })).body
    const { page, complaints, close } = await visitAs(world, payer)
    const stream = page.waitForResponse(/notifications\/stream/)
    await page.goto(`/payments/batches/${id}`)
    await stream
    await page.getByRole('table', { name: 'Payments' }).waitFor()
    await world.service.settle()
    await page.getByText('110 succeeded').waitFor()
    await page.getByRole('link', { name: 'Pay this batch again' }).click()
    await page.getByRole('button', { name: 'Show all 110 rows' }).click()
    await page.getByRole('button', { name: 'Edit row 107' }).click()
    await page.getByLabel('Row 107, Amount').fill('125')
    const sent = page.waitForRequest((request) => request.url().includes('dry_run=true'))
    await page.getByRole('button', { name: 'Check batch' }).click()
    expect((await sent).postDataJSON()).toEqual({ again: id, items: [{ batch_index: 106, amount_minor: '12500' }] })
    await page.getByText('109 rows would be paid twice').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('a batch whose answer was lost is paid by the same request: no row is paid twice, and none is called a repeat', async () => {
    const payer = await signIn(world.service.api)
    await fund(world.service, payer, 2_000_000n)
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto('/payments/batches/new')
    const list = 'name,phone,amount\nAchieng Otieno,0722000731,450\nBaraka Mwangi,0722000732,380\n'
    await page.getByLabel('Or paste the rows').fill(list)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('March')
    await check(page)
    await loseFirstAnswer(page, '/v1/payment-batches')
    const pay = page.getByRole('button', { name: 'Pay this batch' })
    await pay.click()
    await page.getByText('The service could not be reached').waitFor()
    await expect.poll(async () => (await payer.api.get('/v1/payments')).body.data).toHaveLength(2)
    await pay.click()
    await page.getByRole('heading', { name: 'March' }).waitFor()
    expect((await payer.api.get('/v1/payments')).body.data).toHaveLength(2)
    expect((await payer.api.get('/v1/payment-batches')).body.data).toHaveLength(1)
    expect(complaints).toEqual([])
    await close()
  })

  test('a batch that was paid before is asked about once, with its rows, and a cell that has moved is shown', async () => {
    const payer = await signIn(world.service.api)
    await fund(world.service, payer, 2_000_000n)
    const items = [{ display_name: 'Achieng Otieno', destination: '0722000701', amount_minor: '45000' }]
    await payer.api.post('/v1/payment-batches', { items })
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto('/payments/batches/new')
    const bytes = Buffer.from(
      '\uFEFFEmployee Name,Phone Number,Net Pay\r\n\r\nNobody,722000701,450\r\nBaraka,0722000702,1,500\r\n',
    )
    await page.getByLabel('File').setInputFiles({ name: 'April salaries.csv', mimeType: 'text/csv', buffer: bytes })
    await page.getByRole('button', { name: 'Check batch' }).click()
    await page.getByText('4 cells, 3 columns: quote an amount with a comma').first().waitFor()
    await page.getByLabel('Row 4, Net Pay').fill('1500')
    await page.getByLabel('Row 4, Column 4').fill('')
    await page.getByRole('button', { name: 'Check batch' }).click()
    await page.getByText('1 row would be paid twice').waitFor()
    await page.getByText('Row 3: your file says “Nobody”, this number belongs to “Achieng Otieno”').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Pay this batch' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Pay them again' }).click()
    await expect.poll(() => page.getByRole('button', { name: 'Pay this batch' }).isDisabled()).toBe(false)
    // A changed batch is asked about anew.
    await page.getByRole('button', { name: 'Edit row 4' }).click()
    await page.getByLabel('Row 4, Net Pay').fill('1600')
    await page.getByRole('button', { name: 'Check batch' }).click()
    await page.getByText('1 row would be paid twice').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Pay this batch' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Pay them again' }).click()
    await page.getByRole('button', { name: 'Pay this batch' }).click()
    await page.getByRole('heading', { name: 'April salaries' }).waitFor()
    await expect.poll(async () => (await payer.api.get('/v1/payments')).body.data).toHaveLength(3)
    await page.goto('/payments/batches/new')
    const workbook = { name: 'salaries.xlsx', mimeType: 'application/vnd.ms-excel', buffer: Buffer.from('504b03040a0b', 'hex') }
    await page.getByLabel('File').setInputFiles(workbook)
    await page.getByText('save it as "CSV UTF-8"').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('a long list is one row wherever payments are listed, opens there, and its approval shows what to look at before the rest', async () => {
    const payer = await signIn(world.service.api)
    await fund(world.service, payer, 90_000_000n)
    await payer.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '40000' })
    const count = 130
    const items = Array.from({ length: count }, (_, index) => ({
      display_name: `Fundi ${index + 1}`,
      destination: `07220${String(10_000 + index)}`,
      amount_minor: String(100_000 + index * 100),
      narrative: 'Harvest wages',
    }))
    // One number under two names.
    const same = { display_name: 'Somebody Else', destination: '0722010129', amount_minor: '50000' }
    const created = await payer.api.post('/v1/payment-batches', { name: 'Week 47', items: [...items, same] })
    expect(created.status).toBe(201)
    const { id, approval_id } = created.body
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto(`/approvals/${approval_id}`)
    await page.getByText('You approve exactly these lines').waitFor()
    await page.getByText('2 payments to check come first.').waitFor()
    const lines = page.getByRole('row').filter({ hasText: /(Fundi|Somebody)/ })
    await expect.poll(() => lines.count()).toBe(27)
    expect(await lines.nth(0).textContent()).toContain('Number under two names: also "')
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThanOrEqual(3000)
    await page.getByRole('searchbox', { name: 'Search' }).fill('fundi 97')
    await expect.poll(() => lines.count()).toBe(1)
    await page.getByRole('searchbox', { name: 'Search' }).fill('')
    await page.getByRole('button', { name: 'Show all 131 payments' }).click()
    await lines.last().scrollIntoViewIfNeeded()
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    await page.getByRole('link', { name: 'Fundi 1', exact: true }).waitFor()

    await page.goto(`/payments/batches/${id}`)
    await page.getByRole('link', { name: 'Review and approve' }).waitFor()
    const rows = page.getByRole('table', { name: 'Payments' }).locator('.pay-row')
    await rows.first().waitFor()
    expect((await rows.first().textContent())?.startsWith('1. Fundi 1')).toBe(true)

    await page.goto('/payments')
    const row = page.getByLabel('Payments', { exact: true }).locator('.pay-row')
    await page.getByText('131 payments').last().waitFor()
    expect(await row.count()).toBe(1)
    await page.getByRole('button', { name: 'Week 47' }).click()
    await expect.poll(() => row.count()).toBe(26)
    await page.getByRole('link', { name: 'Open the batch' }).waitFor()
    await page.getByLabel('Search').fill('Harvest')
    await page.getByText('Matching, of 131 payments').waitFor()
    await page.goto('/')
    await page.getByRole('heading', { name: 'Recent payments' }).waitFor()
    await expect.poll(() => page.locator('.pay-row').count()).toBe(1)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('harvest wages')
    await page.getByRole('option', { name: /Payment batch\b/ }).waitFor()
    await page.getByRole('combobox').fill('week 47')
    await page.getByRole('option', { name: /Week 47.*131 payments/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.goto('/workspace/activity')
    await page.getByText(/created 131 payments in the batch “Week 47”, KES\s\d+,\d+ in total/).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('lines that are not those of the signed text are not to be approved', async () => {
    const payer = await signIn(world.service.api)
    await fund(world.service, payer, 2_000_000n)
    await payer.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100' })
    const items = [{ display_name: 'Chebet', destination: '0722000703', amount_minor: '50000' }]
    const { approval_id } = (await payer.api.post('/v1/payment-batches', { items })).body
    const { page, close } = await visitAs(world, payer)
    await page.route('**/lines', async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, body: (await answer.text()).replaceAll('Chebet', 'Chebot') })
    })
    await page.goto(`/approvals/${approval_id}`)
    await page.getByText('Do not approve').waitFor()
    await close()
  })

  test('a batch that is sent in six ways, twice in each, is paid once', async () => {
    const payer = await signIn(world.service.api)
    await fund(world.service, payer, 2_000_000n)
    const { key } = await createKey(payer, { spending_controls: { new_payees: 'allow' } })
    const agent = await connectAgent(world.service.api.url, { bearer: key })
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto('/payments/batches')
    const rows = [
      ['Achieng Otieno', '0722000721', '450'],
      ['Baraka Mwangi', '0722000722', '380'],
    ]
    const csv = `name,phone,amount\n${rows.map((cells) => `${cells.join(',')}\n`).join('')}`
    const items = rows.map(([display_name, destination, amount]) => ({ display_name, destination, amount_minor: `${amount}00` }))
    const path = '/v1/payment-batches'
    const textual = { raw: csv, headers: { 'content-type': 'text/csv' } }
    const folder = await mkdtemp(join(tmpdir(), 'list-'))
    const file = join(folder, 'march.csv')
    await writeFile(file, csv)
    const said = async (answer: Promise<Json>) => {
      const { status, body } = await answer
      return status === 201 ? 'paid' : body.details.reason
    }
    const ways: Record<string, (time: number) => Promise<string>> = {
      'CSV with a key': (time) => said(payer.api.post(path, undefined, { ...textual, key: `march ${time}` })),
      'CSV without a key': () => said(payer.api.post(path, undefined, textual)),
      'JSON by an API key': () => said(payer.api.as({ bearer: key, cookie: undefined }).post(path, { items })),
      'the command line': async () => {
        const lines: string[] = []
        const say = (line: string) => lines.push(line)
        const env = { PAYMENTS_API_KEY: key, PAYMENTS_URL: world.service.api.url }
        const run = { args: [file], env, out: say, say, progress: say, signal: new AbortController().signal }
        await batch(run).catch((error: Error) => say(error.message))
        return /looks like an earlier payment/.test(lines.join()) ? 'possible_duplicate' : lines.join()
      },
      'an agent': async (time) => {
        const { data } = (await payer.api.get('/v1/beneficiaries')).body
        const idOf = (name: string) => data.find((payee: Json) => payee.display_name === name)?.id
        const outcome = await agent.call('create_payment_batch', {
          idempotency_key: `march by agent ${time}`,
          items: items.map(({ display_name = '', amount_minor }) => ({ beneficiary_id: idOf(display_name), amount_minor })),
        })
        // A full repeat of another batch is named: no second one was created.
        const said = outcome.faults?.[0]?.message ?? outcome.message
        return outcome.status === 'refused' && /looks like|No second batch was created/.test(said)
          ? 'possible_duplicate'
          : outcome.status
      },
      'the page': async () => {
        await choose(page, 'march.csv', Buffer.from(csv))
        await check(page)
        await page.getByText('2 rows would be paid twice').waitFor()
        const pay = page.getByRole('button', { name: 'Pay this batch' })
        return (await pay.getAttribute('aria-disabled')) === 'true' ? 'possible_duplicate' : 'paid'
      },
    }
    const answers: string[] = []
    for (const time of [1, 2]) for (const send of Object.values(ways)) answers.push(await send(time))
    expect(answers).toEqual(['paid', ...Array.from({ length: 11 }, () => 'possible_duplicate')])
    await expect.poll(async () => (await payer.api.get('/v1/payments')).body.data).toHaveLength(2)
    await expect.poll(async () => (await payer.api.get('/v1/accounts/me')).body.balance.held_minor).toBe('83000')
    expect(await said(payer.api.post(path, undefined, { ...textual, key: 'march 1' }))).toBe('paid')
    await expect.poll(async () => (await payer.api.get('/v1/payments')).body.data).toHaveLength(2)
    expect(complaints).toEqual([])
    await agent.close()
    await rm(folder, { recursive: true })
    await close()
  })

  test('whoever approves a batch sees which rows call a payee otherwise, and that one number has two names', async () => {
    const payer = await signIn(world.service.api)
    await fund(world.service, payer, 2_000_000n)
    await payer.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100' })
    await payer.api.post('/v1/beneficiaries', {
      type: 'individual',
      display_name: 'Achieng Otieno',
      payment_rail: 'MPESA_B2C',
      destination: '0722000711',
    })
    const list = 'name,phone,amount\nNobody,0722000711,10\nBaraka,0722000712,20\nChebet,0722000712,30\nDaudi,0722000713,40\n'
    const { body } = await payer.api.post('/v1/payment-batches', undefined, {
      raw: list,
      headers: { 'content-type': 'text/csv' },
    })
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto(`/approvals/${body.approval_id}`)
    await page.getByText('You approve exactly these lines').waitFor()
    const line = (text: string) => page.getByRole('row').filter({ hasText: text }).textContent()
    await expect.poll(() => line('row 2')).toContain('"Nobody" in the batch')
    await expect.poll(() => line('row 3')).toContain('Number under two names: also "Chebet"')
    await expect.poll(() => line('row 4')).toContain('"Chebet" in the batch')
    await expect.poll(() => line('row 4')).toContain('Number under two names: also "Baraka"')
    await expect.poll(() => line('row 5')).not.toMatch(/in the batch|also/)
    expect(complaints).toEqual([])
    await close()
  })

  test('a deposit says where to pay in, also as a code, and arrives', async () => {
    await registerAtEmulator(world.service.deps)
    const payer = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto('/top-up')
    await page.getByRole('button', { name: 'Pay by paybill' }).click()
    await page.getByRole('img', { name: 'The same as a QR code' }).waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1)
    const { instructions } = (await payer.api.get(`/v1/topups/${id}`)).body
    await fetch(`${world.service.sandboxUrl}/control/deposits`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ reference: instructions.account_number, amount_minor: '12500000' }),
    })
    await world.service.settle()
    await page.getByText(/125,000.00 arrived/).waitFor()
    expect(complaints).toEqual([])
    await close()
  })
}

/** Long lists and files, which take a browser a while. */
export const payrollFlows = (world: World): void => {
  test('files as people send them give on the page what they give elsewhere, or a question that a person can answer', async () => {
    const payer = await signIn(world.service.api)
    await fund(world.service, payer, 10_000_000n)
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto('/payments/batches')
    for (const file of listFiles) {
      const seen = await onPage(page, file)
      const asks = file.page !== undefined && file.page !== ''
      if (asks)
        expect([file.name, seen.asked?.join() ?? seen.says]).toEqual([file.name, expect.stringContaining(file.page ?? '')])
      if ('pays' in file) expect([file.name, seen.items]).toEqual([file.name, file.pays])
      if ('says' in file && file.page === undefined)
        expect([file.name, seen.says]).toEqual([file.name, expect.stringContaining(file.says)])
      if (!('rows' in file)) continue
      expect([file.name, [...new Set(seen.rows)]]).toEqual([file.name, [...new Set(file.rows.map(([row]) => row))]])
      for (const [, , says] of file.rows) expect([file.name, seen.says]).toEqual([file.name, expect.stringContaining(says)])
    }
    await expect.poll(async () => (await payer.api.get('/v1/payments')).body.data).toEqual([])
    // The browser reports each refusal on the page.
    expect(complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([])
    await close()
  })

  test('a payroll of a thousand from a payroll system, with mistakes, is understood, corrected, paid and followed, and its results come back as a file', async () => {
    const payer = await signIn(world.service.api)
    await fund(world.service, payer, 10_000_000n)
    const { page, complaints, close } = await visitAs(world, payer)
    const mistakes: Readonly<Record<number, string>> = {
      10: '1010;Achieng Otieno;72210;Stores;150,00',
      11: '1011;Baraka Mwangi;72211;Stores;150.00',
      12: '1012;Chebet Koech;72212;Stores;150.00',
      500: '1500;Daudi Kamau;722001500;Stores;many',
      700: '1700;Eunice Wafula;722001700;150.00',
    }
    const rows = Array.from(
      { length: 1_000 },
      (_, n) => mistakes[n + 2] ?? `${1002 + n};Chébet ${n + 2};${722_100_000 + n};Stores;150.00`,
    )
    const text = `Emp No;Employee Name;Phone Number;Department;Net Pay\r\n${rows.join('\r\n')}\r\n`
    await page.goto('/payments/batches')
    await choose(page, 'Salaries March.csv', Buffer.from(text, 'latin1'))
    await page.getByText('Which line looks right?').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'Chébet' }).getByRole('button').click()
    await page.getByText('Choose what “Emp No” is, or leave it out.').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Check batch' }).getAttribute('aria-disabled')).toBe('true')
    await page.getByLabel('What “Emp No” is').selectOption('Your own field')
    await page.getByLabel('What “Department” is').selectOption('Leave out')
    const understood = page.getByRole('table', { name: 'Columns' })
    await expect.poll(() => understood.getByRole('row', { name: /Net Pay/ }).textContent()).toContain('KES\u00a0150.00')
    await expect.poll(() => understood.getByRole('row', { name: /Phone Number/ }).textContent()).toContain('0722100000')

    await check(page)
    await page.getByText('5 rows cannot be paid, so nothing was created').waitFor()
    const said = (await page.locator('main').textContent()) ?? ''
    expect(said).toContain('Rows 10 to 12: Phone Number must be a Kenyan mobile number')
    expect(said).toContain('Rows 10 ("150,00") and 500 ("many"): Net Pay is not an amount')
    expect(said).toContain('Row 700: 4 cells, 5 columns: a cell is missing')
    expect(said.split('The balance is too low')).toHaveLength(2)
    expect(said).toMatch(/The batch needs KES\u00a0149,\d{3}\.00, and KES\u00a0100,000\.00 is available/)
    const payable = await download(page, 'The 995 that can be paid')
    expect(payable).toHaveLength(995)
    expect(payable[0]).toEqual({
      'Emp No': '1002',
      'Employee Name': 'Chébet 2',
      'Phone Number': '722100000',
      Department: 'Stores',
      'Net Pay': '150.00',
    })
    const wrong = await download(page, 'The 5 that can’t be paid, with reasons')
    expect(wrong.map((row) => [row['Emp No'], row['Why it was not paid']])).toEqual([
      [
        '1010',
        expect.stringMatching(
          /Net Pay "150,00" is not an amount.*; Phone Number must be|Phone Number must be.*; Net Pay "150,00"/,
        ),
      ],
      ['1011', expect.stringContaining('Phone Number must be a Kenyan mobile number')],
      ['1012', expect.stringContaining('Phone Number must be a Kenyan mobile number')],
      ['1500', expect.stringContaining('Net Pay "many" is not an amount')],
      ['1700', expect.stringContaining('a cell is missing')],
    ])

    await fund(world.service, payer, 10_000_000n)
    for (const row of [10, 11, 12]) await page.getByLabel(`Row ${row}, Phone Number`).fill(`07220010${row}`)
    await page.getByLabel('Row 10, Net Pay').fill('150')
    await page.getByLabel('Row 500, Net Pay').fill('150')
    await page.getByRole('button', { name: 'Remove row 700' }).click()
    await check(page)
    await page.getByText('Every row can be paid').waitFor()
    await page.getByRole('button', { name: 'Pay this batch' }).click()
    await page.getByRole('heading', { name: 'Salaries March' }).waitFor()
    const bar = page.getByRole('progressbar')
    await expect.poll(() => bar.getAttribute('aria-valuetext')).toMatch(/^\d+ of 999 have ended$/)
    // A page that follows every event costs ten seconds more.
    const batchAt = new URL(page.url()).pathname
    await page.goto('about:blank')
    await world.service.settle()
    await page.goto(`${world.service.api.url}${batchAt}`)
    await page.getByRole('progressbar').and(page.locator('[aria-valuenow="999"]')).waitFor()
    await page.getByText('You', { exact: true }).first().waitFor()
    await page.getByLabel('Search').last().fill('Daudi')
    await page.getByText('Row 500. ').waitFor()
    const results = await download(page, 'Export CSV')
    expect(results.map(({ batch_row }) => Number(batch_row))).toEqual(
      Array.from({ length: 1_000 }, (_, n) => n + 2).filter((row) => row !== 700),
    )
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['succeeded']))
    expect(results[8]).toMatchObject({ beneficiary_name: 'Achieng Otieno', amount: '150.00', list: 'Salaries March' })
    expect(results[8]?.metadata).toBe('{"Emp No":"1010"}')

    await choose(
      page,
      'Salaries April.csv',
      Buffer.from('Emp No;Employee Name;Phone Number;Department;Net Pay\r\n1;Nia;722000999;Stores;99\r\n'),
    )
    await page.getByLabel('What “Emp No” is').waitFor()
    await expect.poll(() => page.getByText(/^Choose what “/).count()).toBe(0)
    expect((await check(page)).items).toMatchObject([{ row: 2, amount_minor: '9900' }])
    expect(complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([])
    await close()
  })
}
