import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { accepted, created, ok } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId, RecordOut } from '../../http/wire.ts'
import { found } from '../../lib/errors.ts'
import { railNames } from '../../lib/rail-names.ts'
import { requireBelowBound } from '../bounds.ts'
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
import { archiveBeneficiary, confirmBeneficiary, createBeneficiary, type OnNameChanged, updateBeneficiary } from './service.ts'

const path = '/v1/beneficiaries'
const one = `${path}/:id`

export const registerBeneficiaries = (app: App, deps: Parts & { onNameChanged: OnNameChanged }): void => {
  const routes = routesOf(app, deps)
  routes.post(path, 'beneficiaries.create', {
    permission: 'beneficiary.manage',
    idempotent: true,
    summary: 'Create a beneficiary',
    description:
      'Creates a beneficiary, once, before the first payment. The destination cannot be changed later. Answers contain only its mask. `warnings` lists other beneficiaries with the same number.',
    body: CreateBeneficiary,
    response: { 201: CreatedBeneficiary },
    work: async (tx, { principal, body }) => {
      await requireBelowBound(tx, 'beneficiaries', principal.workspace.id)
      const record = await createBeneficiary(tx, deps, principal, body)
      return created(presentCreated(record, await readAtSameNumber(tx, principal, record)))
    },
  })
  routes.get('/v1/banks', 'beneficiaries.banks', {
    access: 'public',
    summary: 'List banks',
    description: 'Returns the banks that PesaLink can pay here, with their `bank_code`. `1` and `01` are the same code.',
    response: { 200: RecordOut('BankList', { data: z.array(Bank) }) },
    read: async () => ({ data: railNames.flatMap((rail) => deps.rails.payout[rail]?.banks ?? []) }),
  })
  routes.list(path, 'beneficiaries.list', {
    permission: 'beneficiary.read',
    summary: 'List beneficiaries',
    description: 'Returns the beneficiaries of the workspace, newest first. Archived beneficiaries are omitted unless requested.',
    querystring: ListBeneficiaries,
    response: { 200: pageOf(Beneficiary) },
    read: (page, { principal, query }) => listBeneficiaries(deps.db, principal.workspace.id, page, query),
    present: (rows) => rows.map(presentBeneficiary),
  })
  routes.get(one, 'beneficiaries.get', {
    permission: 'beneficiary.read',
    summary: 'Retrieve a beneficiary',
    description: 'Returns one beneficiary, even if it is archived: past payments refer to it.',
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
    summary: 'Update or freeze a beneficiary',
    description:
      'Updates the names, or freezes payments to the beneficiary with `{"status": "frozen"}` and allows them again with `active`. To pay another destination, archive this beneficiary and create another.',
    params: byId('beneficiary'),
    body: UpdateBeneficiary,
    response: { 200: Beneficiary },
    work: async (tx, { principal, params, body }) =>
      ok(presentBeneficiary(await updateBeneficiary(tx, deps, principal, params.id, body))),
  })
  routes.post(`${one}/confirm`, 'beneficiaries.confirm', {
    permission: 'beneficiary.manage',
    refuses: ['conflict'],
    summary: 'Confirm a beneficiary',
    description:
      'Records that a person has checked the beneficiary, so that keys and agents can pay it without approval. Required if a key or an agent created or renamed it. Approving a payment to the beneficiary has the same effect. Repeating the request returns the same answer.',
    params: byId('beneficiary'),
    response: { 200: Beneficiary },
    work: async (tx, { principal, params }) => ok(presentBeneficiary(await confirmBeneficiary(tx, principal, params.id))),
  })
  routes.post(`${one}/verify`, 'beneficiaries.verify', {
    permission: 'beneficiary.manage',
    refuses: ['conflict', 'provider_not_configured'],
    summary: "Check a beneficiary's name",
    description:
      'Asks the rail again for the name of the account holder. The result comes later: `verification` changes, and the event `beneficiary.updated` reports it. Within a minute of the last check, nothing happens. Returns 503 `provider_not_configured` if name lookups are off for the rail (`NAME_LOOKUPS`).',
    params: byId('beneficiary'),
    response: { 202: Beneficiary },
    work: async (tx, { principal, params }) =>
      accepted(presentBeneficiary(await requestNameCheck(tx, deps.rails, principal, params.id))),
  })
  routes.list(`${one}/verifications`, 'beneficiaries.verifications', {
    permission: 'beneficiary.read',
    summary: 'List name checks',
    description:
      'Returns every check of the registered name, newest first. The name comes from a lookup, or from the result of a payment (`payment_id`) that reported a different name. `unverified` means that the result is not compared yet. An account can look up the names of 500 beneficiaries a day, or 20 before its first successful payment. Beyond that, the source is `daily_limit`. The day begins at midnight in Nairobi.',
    params: byId('beneficiary'),
    querystring: PageQuery,
    response: { 200: pageOf(NameCheck) },
    owner: async ({ principal, params }) => {
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
      'Archives the beneficiary permanently. Existing payments are not affected; new payments are refused. Repeating the request returns the same answer.',
    params: byId('beneficiary'),
    response: { 200: Beneficiary },
    work: async (tx, { principal, params }) => ok(presentBeneficiary(await archiveBeneficiary(tx, principal, params.id))),
  })
}
