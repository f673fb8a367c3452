import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { defaultKeyPermissions, effectivePermissions, type Permission } from '../../../../src/auth/permissions.ts'
import { useBeneficiaries } from '../../api/names.ts'
import { api, grantsQuery, paymentsSummaryQuery, rowsOf } from '../../api/queries.ts'
import { useDraft } from '../../lib/drafts.ts'
import { starterSpending, suggestedSpending } from '../../lib/spending-defaults.ts'
import { controlsFromChoice, type Spending } from '../../lib/spending-draft.ts'
import { now } from '../../lib/time.ts'
import { useSession } from '../../shell/session.tsx'
import { fieldsOf, SelectField, TextField } from '../../ui/field.tsx'
import { FormCard, useChange } from '../../ui/form.tsx'
import { accessLifetimes, SpendChoice } from '../../ui/limits.tsx'
import { Page, SkeletonCard, TextNotice } from '../../ui/page.tsx'
import { tAgent } from '../agents/texts.ts'
import { PermissionChecks } from './permission-checks.tsx'
import { SecretDialog } from './secret-dialog.tsx'
import { richDev, tDev } from './texts.ts'

type Fields = { name: string; days: string; permissions: Permission[]; spending: Spending }

const dayMs = 86_400_000

export const NewKeyPage = () => {
  const { workspace, account } = useSession()
  return (
    <Page
      title={tAgent('new_key')}
      lead={tDev('new_key.in', { name: workspace.name })}
      back={{ href: '/developers', label: tDev('keys') }}
    >
      {account.capabilities.api_keys === 'active' ? (
        <Suggested />
      ) : (
        <TextNotice tone="warn" title={tDev('keys.off')}>
          {tDev('keys.off_note')}
        </TextNotice>
      )}
    </Page>
  )
}

const maxLookedAt = 10

/** Suggests limits from the daily spending of the person's other agents, never from payroll. Otherwise, default limits. */
const Suggested = () => {
  const { can, workspace } = useSession()
  const isStarter = useSearchParams()[0].has('starter')
  const grants = useInfiniteQuery(grantsQuery)
  const ids = rowsOf(grants)
    .filter((grant) => grant.workspace_id === workspace.id)
    .slice(0, maxLookedAt)
    .map(({ id }) => id)
  const summaries = useQueries({
    queries: ids.map((id) => ({ ...paymentsSummaryQuery({ grant_id: id }), enabled: can('payment.read') })),
  })
  // Keeps the first result: the created key is another agent, and must not restart the form.
  const [days, setDays] = useState<Parameters<typeof suggestedSpending>[0] | null>(null)
  const isKnown = !grants.isLoading && !summaries.some(({ isLoading }) => isLoading)
  if (days === null && isKnown) setDays(summaries.flatMap(({ data }) => data?.by_day ?? []).filter(({ count }) => count > 0))
  if (days === null) return <SkeletonCard rows={4} />
  const isFirst = isStarter && days.length === 0
  return <KeyForm suggested={isFirst ? starterSpending() : suggestedSpending(days)} fromAgents={days.length > 0} />
}

const KeyForm = ({ suggested, fromAgents }: { suggested: Spending; fromAgents: boolean }) => {
  const { account, membership, currency } = useSession()
  const [, navigate] = useLocation()
  const beneficiaries = useBeneficiaries()
  const own = effectivePermissions(membership.role, null)
  const { value, set, clear } = useDraft<Fields>('api-key', account.id, () => ({
    name: '',
    days: '90',
    permissions: defaultKeyPermissions(own),
    spending: suggested,
  }))
  const [madeAt] = useState(() => now())
  const pays = value.permissions.includes('payment.create')
  const controls = pays ? controlsFromChoice(value.spending) : {}
  const create = useChange(
    (keyed) =>
      api.POST(
        '/v1/accounts/me/api-keys',
        keyed({
          name: value.name.trim(),
          permissions: value.permissions,
          ...(controls && { spending_controls: controls }),
          ...(value.days && { expires_at: new Date(madeAt + Number(value.days) * dayMs).toISOString() }),
        }),
      ),
    { invalidates: ['api-keys', 'grants'], onDone: clear },
  )
  const field = fieldsOf(value, set, create.error)
  const ready = value.name.trim() !== '' && value.permissions.length > 0 && controls !== null
  return (
    <>
      <FormCard className="narrow" action={tDev('create_it')} mutation={create} ready={ready}>
        <p className="muted small">
          {richDev('new_key.needs', { link: <a href="/docs/guides/quickstart">{tDev('quickstart')}</a> })}
        </p>
        <div className="columns">
          <TextField label={tDev('name')} {...field('name')} maxLength={120} autoFocus placeholder={tDev('name.example')} />
          <SelectField label={tDev('expires_after')} {...field('days', 'expires_at')} options={accessLifetimes} />
        </div>
        {pays && (
          <p className="muted small">{tDev('threshold.note', { what: fromAgents ? tDev('suggested') : tDev('small') })}</p>
        )}
        {pays && (
          <SpendChoice
            value={value.spending}
            onChange={(spending) => set({ spending })}
            currency={currency}
            error={create.error}
            beneficiaries={beneficiaries}
          />
        )}
        <details>
          <summary className="strong">{tDev('permissions_count', { count: value.permissions.length })}</summary>
          <PermissionChecks offered={[...own]} chosen={value.permissions} onChange={(permissions) => set({ permissions })} />
        </details>
      </FormCard>
      {create.data && (
        <SecretDialog title={create.data.name} made={create.data} onClose={() => navigate(`/agents/${create.data.grant.id}`)} />
      )}
    </>
  )
}
