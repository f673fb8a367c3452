import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { accepted, created, ok } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId, RecordOut } from '../../http/wire.ts'
import { found } from '../../lib/errors.ts'
import { railNames } from '../../lib/rail-names.ts'
import { requireRoom } from '../bounds.ts'
import type { Parts } from '../parts.ts'
import { requestNameCheck } from './names-service.ts'
import { presentBeneficiary, presentCheck, presentCreated } from './present.ts'
import { findBeneficiary, listBeneficiaries, listVerifications, readAtSameNumber } from './queries.ts'
import {
  Bank,
  Beneficiary,
  CreateBeneficiary,
  CreatedBeneficiary,
  ListBeneficiaries,
  NameCheck,
  UpdateBeneficiary,
} from './schema.ts'
import { archiveBeneficiary, confirmBeneficiary, createBeneficiary, updateBeneficiary } from './service.ts'

const path = '/v1/beneficiaries'
const one = `${path}/:id`

export const registerBeneficiaries = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.post(path, 'beneficiaries.create', {
    permission: 'beneficiary.manage',
    idempotent: true,
    summary: 'Create a beneficiary',
    description:
      'Stores a payee, once, before the first payment. The destination cannot be changed later, and no answer contains it: only its mask. `warnings` names others that have the same number.',
    body: CreateBeneficiary,
    response: { 201: CreatedBeneficiary },
    work: async (tx, { principal, body }) => {
      await requireRoom(tx, 'beneficiaries', principal.workspace.id)
      const record = await createBeneficiary(tx, deps, principal, body)
      return created(presentCreated(record, await readAtSameNumber(tx, principal, record)))
    },
  })
  routes.get('/v1/banks', 'beneficiaries.banks', {
    access: 'public',
    summary: 'List banks',
    description: 'The banks whose accounts PesaLink pays here, with the codes that `bank_code` takes. `1` and `01` are one code.',
    response: { 200: RecordOut('BankList', { data: z.array(Bank) }) },
    read: async () => ({ data: railNames.flatMap((rail) => deps.rails.payout[rail]?.banks ?? []) }),
  })
  routes.list(path, 'beneficiaries.list', {
    permission: 'beneficiary.read',
    summary: 'List beneficiaries',
    description: 'The beneficiaries of the workspace, newest first. Archived ones are left out unless they are requested.',
    querystring: ListBeneficiaries,
    response: { 200: pageOf(Beneficiary) },
    read: (page, { principal, query }) => listBeneficiaries(deps.db, principal.workspace.id, page, query),
    present: (rows) => rows.map(presentBeneficiary),
  })
  routes.get(one, 'beneficiaries.get', {
    permission: 'beneficiary.read',
    summary: 'Read a beneficiary',
    description: 'One beneficiary, archived ones included: past payments refer to it.',
    params: byId('beneficiary'),
    response: { 200: Beneficiary },
    read: async ({ principal, params }) =>
      presentBeneficiary(found(await findBeneficiary(deps.db, principal.workspace.id, params.id))),
  })
  routes.patch(one, 'beneficiaries.update', {
    freshProof: 'by_content',
    permission: 'beneficiary.manage',
    whileFrozen: true,
    refuses: ['conflict', 'workspace_frozen', 'account_frozen'],
    summary: 'Change or freeze a beneficiary',
    description:
      'Corrects its names, or freezes payments to it with `{"status": "frozen"}` and allows them again with `active`. To pay another destination, archive this one and create another.',
    params: byId('beneficiary'),
    body: UpdateBeneficiary,
    response: { 200: Beneficiary },
    work: async (tx, { principal, params, body }) =>
      ok(presentBeneficiary(await updateBeneficiary(tx, principal, params.id, body))),
  })
  routes.post(`${one}/confirm`, 'beneficiaries.confirm', {
    permission: 'beneficiary.manage',
    refuses: ['conflict'],
    summary: 'Confirm a beneficiary',
    description:
      'A person has checked who is paid: keys and agents may then pay it without asking. Needed for a beneficiary that a key or an agent created or renamed; approving a payment to it does the same. Doing it again gives the same answer.',
    params: byId('beneficiary'),
    response: { 200: Beneficiary },
    work: async (tx, { principal, params }) => ok(presentBeneficiary(await confirmBeneficiary(tx, principal, params.id))),
  })
  routes.post(`${one}/verify`, 'beneficiaries.verify', {
    permission: 'beneficiary.manage',
    refuses: ['conflict', 'provider_not_configured'],
    summary: "Check a beneficiary's name",
    description:
      'Asks the rail again whose number it is. The answer comes later: `verification` changes, and the event `beneficiary.updated` reports it. Asked again within a minute of the last check, nothing happens. 503 `provider_not_configured` where the rail is not asked for names (`NAME_LOOKUPS`).',
    params: byId('beneficiary'),
    response: { 202: Beneficiary },
    work: async (tx, { principal, params }) =>
      accepted(presentBeneficiary(await requestNameCheck(tx, deps.rails, principal, params.id))),
  })
  routes.list(`${one}/verifications`, 'beneficiaries.verifications', {
    permission: 'beneficiary.read',
    summary: 'List name checks',
    description:
      'Every check of the name at the rail, newest first: by a query, or by the result of a payment (`payment_id`) that reported another name than was known. `unverified` is one whose answer is not compared yet. An account none of whose payments has succeeded gets the names of at most 20 beneficiaries a day, every other one 500; beyond that the source is `daily_limit`. The day begins at midnight in Nairobi.',
    params: byId('beneficiary'),
    querystring: PageQuery,
    response: { 200: pageOf(NameCheck) },
    of: async ({ principal, params }) => {
      found(await findBeneficiary(deps.db, principal.workspace.id, params.id))
      return principal.workspace.id
    },
    read: (page, { params }) => listVerifications(deps.db, params.id, page),
    present: (rows) => rows.map((row) => presentCheck(row)),
  })
  routes.delete(one, 'beneficiaries.archive', {
    permission: 'beneficiary.manage',
    whileFrozen: true,
    summary: 'Archive a beneficiary',
    description:
      'Ends its use permanently. Payments that were made stay as they are; new ones are refused. Doing it again gives the same answer.',
    params: byId('beneficiary'),
    response: { 200: Beneficiary },
    work: async (tx, { principal, params }) => ok(presentBeneficiary(await archiveBeneficiary(tx, principal, params.id))),
  })
}
