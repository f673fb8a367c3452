import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import {
  api,
  grantsQuery,
  historySummaryQuery,
  invitationsQuery,
  membersQuery,
  newestBeneficiariesQuery,
  policiesQuery,
  recentPaymentsQuery,
} from '../../api/queries.ts'
import { cx } from '../../lib/class-names.ts'
import { t } from '../../lib/language.ts'
import { isMoneySimulated } from '../../lib/page-state.ts'
import { starterThreshold } from '../../lib/rule-words.ts'
import { shortMoney } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/copy.tsx'
import { useChange } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Failure } from '../../ui/page.tsx'
import { tHome } from './texts.ts'

type Variant = 'primary' | 'secondary'
type Step = { title: string; text: string; done: boolean; action: (variant: Variant) => ReactNode }

const hasRows = (query: { data?: { pages: { data: unknown[] }[] } | undefined }) => (query.data?.pages[0]?.data.length ?? 0) > 0

/** Which steps are done. With payments and an agent or key, all steps count as done, and nothing more is loaded for them. */
export const useSetupProgress = () => {
  const { hasOwnBalance, can } = useSession()
  const grants = useInfiniteQuery(grantsQuery)
  const payments = useInfiniteQuery(recentPaymentsQuery)
  const isComplete = hasRows(grants) && hasRows(payments)
  const whileIncomplete = { enabled: !isComplete && grants.isSuccess && payments.isSuccess }
  const summary = useQuery({ ...historySummaryQuery(hasOwnBalance), ...whileIncomplete })
  const beneficiaries = useQuery({ ...newestBeneficiariesQuery, ...whileIncomplete })
  const policies = useInfiniteQuery({ ...policiesQuery('active'), ...whileIncomplete })
  const forManagers = { enabled: whileIncomplete.enabled && can('workspace.manage') }
  const [members, invitations] = [
    useInfiniteQuery({ ...membersQuery, ...forManagers }),
    useInfiniteQuery({ ...invitationsQuery, ...forManagers }),
  ]
  return {
    isLoading: [summary, beneficiaries, policies, members, invitations].some(({ isLoading }) => isLoading),
    known: [grants, payments, summary, policies, beneficiaries].every(({ isSuccess }) => isSuccess) && !isComplete,
    money: summary.data?.days.some(({ in_minor: came }) => came !== '0') ?? false,
    beneficiary: (beneficiaries.data?.data.length ?? 0) > 0,
    policy: hasRows(policies),
    others: (members.data?.pages[0]?.data.length ?? 0) > 1 || hasRows(invitations),
    delegate: hasRows(grants),
    payment: hasRows(payments),
  }
}

const stepLink = (href: string, label: string, variant: Variant) => (
  <LinkButton href={href} variant={variant} size={variant === 'primary' ? 'normal' : 'small'}>
    {label}
  </LinkButton>
)

/** Steps from an empty account to a first payment and agent, in any order. Hidden once all steps count as done. */
export const FirstSteps = () => {
  const { seesBalance, can, currency } = useSession()
  const has = useSetupProgress()
  if (!seesBalance || !can('policy.manage') || !has.known) return null
  const steps: Step[] = [
    {
      title: t('add_money_link'),
      text: tHome('step.money'),
      done: has.money,
      action: (variant) => stepLink('/top-up', t('top_up'), variant),
    },
    {
      title: tHome('step.policy'),
      text: tHome('step.policy.note'),
      done: has.policy,
      action: () => <ApprovalQuestion />,
    },
    ...(can('workspace.manage')
      ? [
          {
            title: tHome('step.invite'),
            text: tHome('step.invite.note'),
            done: has.others,
            action: (variant: Variant) => stepLink('/workspace?invite', tHome('invite'), variant),
          },
        ]
      : []),
    {
      title: tHome('step.payee'),
      text: tHome('step.payee.note'),
      done: has.beneficiary,
      action: (variant) => stepLink('/beneficiaries/new?then_pay', tHome('add_payee'), variant),
    },
    {
      title: tHome('step.try'),
      text: tHome('step.try.note'),
      done: has.payment,
      action: (variant) => stepLink('/payments/new', t('new_payment'), variant),
    },
    {
      title: tHome('step.agent'),
      text: tHome('step.agent.note', { amount: shortMoney(starterThreshold, currency) }),
      done: has.delegate,
      action: (variant) => stepLink('/developers/keys/new?starter', tHome('new_agent'), variant),
    },
  ]
  const current = steps.find(({ done }) => !done)
  if (!current) return null
  return (
    <Card
      title={tHome('start')}
      note={tHome('steps_done', { at: steps.filter(({ done }) => done).length, count: steps.length })}
      flush
    >
      <ol className="rows steps">
        {steps.map((step, index) => (
          <li
            key={step.title}
            className={cx('row', step.done && 'step-done')}
            aria-current={step === current ? 'step' : undefined}
          >
            <span className="step-mark">{step.done ? <Icon name="check" size={14} /> : index + 1}</span>
            <div className="grow stack-s">
              <div>
                <p>
                  <span className="strong">{step.title}</span>
                  {step.done && <span className="visually-hidden"> {tHome('done')}</span>}
                </p>
                {!step.done && <p className="muted small">{step.text}</p>}
              </div>
              {!step.done && <div>{step.action(step === current ? 'primary' : 'secondary')}</div>}
            </div>
          </li>
        ))}
      </ol>
      {isMoneySimulated() && <DemoWorkspace />}
    </Card>
  )
}

/** The demo is a separate service, because its history begins a month ago. */
const DemoWorkspace = () => (
  <details className="card-body stack-s">
    <summary>{tHome('demo')}</summary>
    <p className="muted small">{tHome('demo.note')}</p>
    <CodeBlock label={tHome('demo.command')} code="npm run demo -- month" />
    <p className="muted small">{tHome('demo.remove')}</p>
  </details>
)

/** Policies that one click creates: threshold and number of approvals. */
const starters = [
  { label: tHome('every'), terms: {} },
  { label: tHome('from'), terms: { approval_threshold_minor: '100000' } },
  { label: tHome('two_from'), terms: { approval_threshold_minor: '5000000', required_approval_count: 2 } },
] as const

/** One question instead of a form: each answer creates a policy with one click. */
const ApprovalQuestion = () => {
  const { currency } = useSession()
  const create = useChange(
    (keyed, terms: object) =>
      api.POST('/v1/spending-policies', keyed({ name: 'Payment approval', required_approval_count: 1, ...terms })),
    { announcement: tHome('turned_on'), invalidates: ['policies'] },
  )
  return (
    <div className="stack-s">
      <div className="row row-tight">
        {starters.map(({ label, terms }) => (
          <Button
            key={label}
            size="small"
            busy={create.isPending && create.variables === terms}
            onClick={() => create.mutate(terms)}
          >
            {'approval_threshold_minor' in terms ? `${label} ${shortMoney(terms.approval_threshold_minor, currency)}` : label}
          </Button>
        ))}
      </div>
      <Failure error={create.error} />
    </div>
  )
}
