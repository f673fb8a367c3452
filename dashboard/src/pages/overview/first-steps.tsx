import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import {
  api,
  grantsQuery,
  historySummaryQuery,
  newestBeneficiariesQuery,
  policiesQuery,
  recentPaymentsQuery,
} from '../../api/queries.ts'
import { shortMoney } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, cx, Icon, LinkButton } from '../../ui/button.tsx'
import { useChange } from '../../ui/form.tsx'
import { Card, Failure } from '../../ui/page.tsx'

type Step = { title: string; text: string; done: boolean; action: ReactNode }

const some = (query: { data?: { pages: { data: unknown[] }[] } | undefined }) => (query.data?.pages[0]?.data.length ?? 0) > 0

/** Once there are payments and something that acts for the person, the steps are taken, and nothing more is read for them. */
export const useHas = () => {
  const { ofTeam } = useSession()
  const grants = useInfiniteQuery(grantsQuery)
  const payments = useInfiniteQuery(recentPaymentsQuery)
  const taken = some(grants) && some(payments)
  const asked = { enabled: !taken && grants.isSuccess && payments.isSuccess }
  const summary = useQuery({ ...historySummaryQuery(ofTeam), ...asked })
  const beneficiaries = useQuery({ ...newestBeneficiariesQuery, ...asked })
  const policies = useInfiniteQuery({ ...policiesQuery('active'), ...asked })
  return {
    isLoading: [summary, beneficiaries, policies].some(({ isLoading }) => isLoading),
    known: [grants, payments, summary, policies, beneficiaries].every(({ isSuccess }) => isSuccess) && !taken,
    money: summary.data?.days.some(({ in_minor: came }) => came !== '0') ?? false,
    beneficiary: (beneficiaries.data?.data.length ?? 0) > 0,
    policy: some(policies),
    delegate: some(grants),
    payment: some(payments),
  }
}

const start = (href: string, label: string) => (
  <LinkButton href={href} variant="primary">
    {label}
  </LinkButton>
)

/** The steps from an empty account to a first payment: one is open at a time, and the card goes once all are done. */
export const FirstSteps = () => {
  const { ownsBalance, can } = useSession()
  const has = useHas()
  if (!ownsBalance || !can('policy.manage') || !has.known) return null
  const steps: Step[] = [
    {
      title: 'Add money',
      text: 'Top up from M-PESA. You confirm on your phone.',
      done: has.money,
      action: start('/top-up', 'Top up'),
    },
    {
      title: 'Which payments need approval?',
      text: 'You can change this any time under Policies.',
      done: has.policy,
      action: <ApprovalQuestion />,
    },
    {
      title: 'Add someone to pay',
      text: 'A phone, a business or a bank account.',
      done: has.beneficiary,
      action: start('/beneficiaries/new?then_pay', 'Add beneficiary'),
    },
    {
      title: 'Make a payment',
      text: 'You see what will happen before anything is sent.',
      done: has.payment,
      action: start('/payments/new', 'New payment'),
    },
    {
      title: 'Connect an agent',
      text: 'With a key of its own, or by signing in. Each has limits that you set.',
      done: has.delegate,
      action: start('/developers/keys/new', 'New API key'),
    },
  ]
  const current = steps.find(({ done }) => !done)
  if (!current) return null
  return (
    <Card title="Get started" note={`${steps.filter(({ done }) => done).length} of ${steps.length} done`} flush>
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
                  {step.done && <span className="visually-hidden"> (done)</span>}
                </p>
                {step === current && <p className="quiet small">{step.text}</p>}
              </div>
              {step === current && <div>{step.action}</div>}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  )
}

const thresholds = ['100000', '1000000'] as const

/** One question instead of a form: each answer is a policy, made by one click. */
const ApprovalQuestion = () => {
  const { currency } = useSession()
  const create = useChange(
    (keyed, threshold: string | null) => {
      const at = threshold !== null && { approval_threshold_minor: threshold }
      return api.POST('/v1/spending-policies', keyed({ name: 'Payment approval', required_approval_count: 1, ...at }))
    },
    { announcement: 'Policy turned on', outdates: ['policies'] },
  )
  return (
    <div className="stack-s">
      <div className="row row-tight">
        <Button busy={create.isPending && create.variables === null} onClick={() => create.mutate(null)}>
          Every payment
        </Button>
        {thresholds.map((threshold) => (
          <Button
            key={threshold}
            busy={create.isPending && create.variables === threshold}
            onClick={() => create.mutate(threshold)}
          >
            {shortMoney(threshold, currency)} and more
          </Button>
        ))}
      </div>
      <Failure error={create.error} />
    </div>
  )
}
