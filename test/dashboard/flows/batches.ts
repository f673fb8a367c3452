import { expect, test } from 'vitest'
import { registerAtEmulator } from '../../../src/modules/topups/deposits/register.ts'
import { fund } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
import { visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const rows = `name,phone,amount,narrative
Achieng Otieno,0722000701,450,March salary
Baraka Mwangi,72200070,380.50,March salary
`

export const batchFlows = (world: World): void => {
  test('a list is mended in place, checked, approved by its lines and their root, followed to its end, and stands in the statement', async () => {
    const payer = await signIn(world.service.api)
    await fund(world.service, payer, 2_000_000n)
    await payer.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '40000' })
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto('/payments/batches/new')
    await page.getByLabel('Or paste the rows').fill(rows)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('March')
    await page.getByRole('button', { name: 'Check the list' }).click()
    await page.getByText('1 row cannot be paid').waitFor()
    await page.getByText('phone: must be a Kenyan mobile number: 07…, 01…, +254… or 254…, with all its digits').waitFor()
    await page.getByLabel('Row 3, phone').fill('0722000702')
    await page.getByLabel('Row 3, amount').fill('380')
    await page.getByRole('button', { name: 'Check the list' }).click()
    await page.getByText('Every row can be paid').waitFor()
    expect((await payer.api.get('/v1/payment-batches')).body.data).toEqual([])
    await page.getByRole('button', { name: 'Pay this list' }).dblclick()
    await page.getByRole('heading', { name: 'March' }).waitFor()
    expect((await payer.api.get('/v1/payment-batches')).body.data).toHaveLength(1)
    await page.getByText('2 need approval').waitFor()
    await page.getByRole('link', { name: 'View approval' }).click()
    await page.getByText('You approve exactly these lines').waitFor()
    expect(await page.getByText('Never paid before', { exact: true }).count()).toBe(2)
    const [batch] = (await payer.api.get('/v1/payment-batches')).body.data
    await payer.api.post(`/v1/approvals/${batch.approval_id}/decide`, { decision: 'approve' })
    await world.service.settle()
    await page.goto(`/payments/batches/${batch.id}`)
    await page.getByText('2 succeeded').waitFor()
    await page.goto('/statements')
    await page.getByRole('heading', { name: 'Out by payee' }).waitFor()
    await page
      .getByRole('cell', { name: /Achieng Otieno/ })
      .first()
      .waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('a list that was paid before is asked about once, with its rows, and a cell that has moved is shown', async () => {
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
    await page.getByRole('button', { name: 'Check the list' }).click()
    await page.getByText('4 cells, 3 columns: quote an amount with a comma').first().waitFor()
    await page.getByLabel('Row 4, Net Pay').fill('1500')
    await page.getByLabel('Row 4, Column 4').fill('')
    await page.getByRole('button', { name: 'Check the list' }).click()
    await page.getByText('1 row would be paid twice').waitFor()
    await page.getByText('Row 3: the list says “Nobody”, this number is “Achieng Otieno”').waitFor()
    expect(await page.getByRole('button', { name: 'Pay this list' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Pay them again' }).click()
    await page.getByRole('button', { name: 'Pay this list' }).click()
    await page.getByRole('heading', { name: 'April salaries' }).waitFor()
    expect((await payer.api.get('/v1/payments')).body.data).toHaveLength(3)
    await page.goto('/payments/batches/new')
    const workbook = { name: 'salaries.xlsx', mimeType: 'application/vnd.ms-excel', buffer: Buffer.from('504b03040a0b', 'hex') }
    await page.getByLabel('File').setInputFiles(workbook)
    await page.getByText('save it as "CSV UTF-8"').waitFor()
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

  test('a deposit says where to pay in, also as a code, and arrives', async () => {
    await registerAtEmulator(world.service.deps)
    const payer = await signIn(world.service.api)
    const { page, complaints, close } = await visitAs(world, payer)
    await page.goto('/top-up')
    await page.getByRole('button', { name: 'Pay by paybill' }).click()
    await page.getByRole('img', { name: 'The same as a code' }).waitFor()
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
