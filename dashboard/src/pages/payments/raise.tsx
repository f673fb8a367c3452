import { ruleOf } from '../../../../src/policy/rules.ts'
import type { Schemas } from '../../api/queries.ts'
import { editableMajor, shortMoney } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { tAgent } from '../agents/texts.ts'

type Refusal = Schemas['RefusedPayment']
type Change = NonNullable<NonNullable<Refusal['decision']>['remedy']>['changes'][number]

type LimitLink = { href: string; label: string }

/** Link to raise the limits of one policy or agent, with amounts filled in. Null if that is impossible. */
const limitLinkOf = (all: readonly Change[], mayEdit: (kind: string) => boolean, currency: string): LimitLink | null => {
  // A payment above the approval threshold waits for a person; only the other limits refuse it.
  const limiting = all.filter(({ rule }) => rule !== 'approval_threshold')
  const changes = limiting.length > 0 ? limiting : all
  const [first] = changes
  if (!first || changes.some(({ source }) => source.id !== first.source.id)) return null
  const { kind, id } = first.source
  const limits = changes.flatMap(({ rule, to_minor: to }) => (to && ruleOf(rule).raise ? [{ rule, to }] : []))
  const [only] = limits
  if (!only || limits.length < changes.length || !mayEdit(kind)) return null
  const amounts = limits.map(({ rule, to }) => `${rule}:${editableMajor(to)}`).join(',')
  return {
    href: `${kind === 'policy' ? '/policies' : '/agents'}/${id}?raise=${amounts}`,
    label:
      limits.length === 1
        ? tAgent('raise_to', { amount: shortMoney(only.to, currency) })
        : tAgent('raise_limits', { length: limits.length }),
  }
}

export const RaiseLimitLink = ({ refusal }: { refusal: Refusal }) => {
  const { can, account, currency } = useSession()
  const own = refusal.initiated_by.account_id === account.id
  const mayEdit = (kind: string) => (kind === 'policy' ? can('policy.manage') : kind === 'grant' && own)
  const raised = limitLinkOf(refusal.decision?.remedy?.changes ?? [], mayEdit, currency)
  return (
    raised && (
      <LinkButton href={raised.href} size="small">
        {raised.label}
      </LinkButton>
    )
  )
}
