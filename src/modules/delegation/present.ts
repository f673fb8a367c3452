import { permissions } from '../../auth/permissions.ts'
import { secretPrefixes } from '../../auth/secrets.ts'
import type { Db } from '../../db/client.ts'
import { grantLife, keyLife } from '../../db/credential-life.ts'
import { presenter } from '../../http/presenter.ts'
import { formatId } from '../../lib/ids.ts'
import { formatMinor, type Minor, minor } from '../../lib/money.ts'
import type { Controls } from './control-rules.ts'
import type { ApiKeyRecord, GrantRecord, KeyWithGrant } from './queries.ts'
import { ApiKey, Grant, type SpendingControls } from './schema.ts'
import { type GrantUsage, loadGrantUsage } from './usage.ts'

const limit = (name: keyof SpendingControls, amount: Minor | null) => (amount === null ? {} : { [name]: formatMinor(amount) })

export const presentControls = (controls: Controls): SpendingControls => ({
  ...limit('per_payment_limit_minor', controls.perPaymentLimitMinor),
  ...limit('daily_limit_minor', controls.dailyLimitMinor),
  ...limit('monthly_limit_minor', controls.monthlyLimitMinor),
  ...limit('approval_threshold_minor', controls.approvalThresholdMinor),
  ...(controls.paymentTypes && { payment_types: controls.paymentTypes }),
  ...(controls.beneficiaryIds && { beneficiary_ids: controls.beneficiaryIds.map((id) => formatId('beneficiary', id)) }),
  ...(controls.newPayees && { new_payees: controls.newPayees }),
  ...(controls.onDuplicate && { on_duplicate: controls.onDuplicate }),
})

const nothingUsed: GrantUsage = {
  usage: { dayMinor: 0n, monthMinor: 0n },
  headroom: { perPaymentMinor: null, todayMinor: null, monthMinor: null },
}

const shownGrant = presenter(Grant)

export const presentGrant = (grant: GrantRecord, { usage, headroom }: GrantUsage = nothingUsed): Grant =>
  shownGrant(grant, {
    permissions: permissions.filter((permission) => grant.permissions.includes(permission)),
    spending_controls: presentControls(grant),
    usage: { today_minor: formatMinor(usage.dayMinor), month_minor: formatMinor(usage.monthMinor) },
    headroom: {
      per_payment_minor: minor(headroom.perPaymentMinor),
      today_minor: minor(headroom.todayMinor),
      month_minor: minor(headroom.monthMinor),
    },
    frozen: grant.frozenAt !== null,
  })

/** The grants as REST returns them now, in the order given. */
export const viewGrants = async (db: Db, at: Date, records: readonly GrantRecord[]): Promise<Grant[]> => {
  const usages = await loadGrantUsage(db, at, records)
  return records.map((grant) => presentGrant(grant, usages.get(grant.id)))
}

export const viewGrant = async (db: Db, at: Date, grant: GrantRecord): Promise<Grant> =>
  presentGrant(grant, (await loadGrantUsage(db, at, [grant])).get(grant.id))

const dateOrNull = (time: string | null): Date | null => (time === null ? null : new Date(time))

/** The same order as in authentication: a revoked key is never shown as expired, and a key ends with its grant at the latest. */
export const apiKeyStatus = (
  key: ApiKeyRecord,
  grant: Pick<GrantRecord, 'revokedAt' | 'expiresAt'>,
  at: Date,
): ApiKey['status'] => {
  const life = keyLife(key, at)
  return life === 'active' && grantLife(grant, at) !== 'active' ? 'revoked' : life
}

const shownKey = presenter(ApiKey)

/** `grant` is the key's own, as REST shows it. */
export const presentApiKey = (key: ApiKeyRecord, grant: Grant, at: Date): ApiKey =>
  shownKey(key, {
    key_prefix: secretPrefixes.api_key + key.lookup,
    status: apiKeyStatus(key, { revokedAt: dateOrNull(grant.revoked_at), expiresAt: dateOrNull(grant.expires_at) }, at),
    permissions: grant.permissions,
    grant,
  })

/** The keys as REST returns them now, in the order given. */
export const viewKeys = async (db: Db, at: Date, rows: readonly KeyWithGrant[]): Promise<ApiKey[]> => {
  const unique = [...new Map(rows.map(({ grant }) => [grant.id, grant])).values()]
  const views = new Map((await viewGrants(db, at, unique)).map((grant, index) => [unique[index]?.id, grant]))
  return rows.flatMap(({ key }) => {
    const grant = views.get(key.grantId)
    return grant ? [presentApiKey(key, grant, at)] : []
  })
}
