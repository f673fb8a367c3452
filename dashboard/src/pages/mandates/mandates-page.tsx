import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useLocation } from 'wouter'
import { useBeneficiaries, useBeneficiaryNames } from '../../api/names.ts'
import { api, grantsQuery, mandateQuery, mandatesQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { useFields } from '../../lib/drafts.ts'
import { typeLabel } from '../../lib/rails.ts'
import { fromLocalInput, fullTime, localInput, now } from '../../lib/time.ts'
import { countWords, listWords, moneyText, parseMajor, shortAddress, shortMoney } from '../../lib/words.ts'
import { LoadState, useSession } from '../../shell/session.tsx'
import { BeneficiariesField, PaymentTypesField } from '../../ui/beneficiary-field.tsx'
import { CopyButton, CopyText, NewLink } from '../../ui/button.tsx'
import { Meter } from '../../ui/charts.tsx'
import { fieldsOf, MoneyField, SelectField, TextField } from '../../ui/field.tsx'
import { ConfirmButton } from '../../ui/form.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Card, Empty, ExactTime, Facts, Page, StatusBadge, TextNotice, Time } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { useWalletFlow, WalletPicker } from '../../wallet/wallet.tsx'
import { SignedText } from '../approvals/sign-decision.tsx'

const Row = ({ mandate, currency }: { mandate: Schemas['IntentMandate']; currency: string }) => (
  <Item
    href={`/mandates/${mandate.id}`}
    icon="mandate"
    title={mandate.description}
    note={
      <>
        {moneyText(mandate.spent_minor, currency)} of {moneyText(mandate.max_total_minor, currency)} used ·{' '}
        {mandate.status === 'active' ? 'ends' : 'ended'} <Time at={mandate.expires_at} />
        <Meter used={mandate.spent_minor} limit={mandate.max_total_minor} currency={currency} label="Used" />
      </>
    }
  >
    <StatusBadge status={mandate.status} />
  </Item>
)

export const MandatesPage = () => {
  const { currency, can, owns } = useSession()
  const create = can('mandate.manage') && owns && <NewLink href="/mandates/new">New mandate</NewLink>
  return (
    <Page
      title="Mandates"
      lead="Approvals you signed in advance: a payment that fits a mandate doesn’t wait for you."
      actions={create}
    >
      <List
        label="Mandates"
        query={mandatesQuery}
        rows={2}
        empty={
          <Empty icon="mandate" title="No mandates yet" actions={create}>
            Sign once to let an agent pay, say, {shortMoney('200000', currency)} to the caterer this week without asking you each
            time.
          </Empty>
        }
      >
        {(mandate) => <Row mandate={mandate} currency={currency} />}
      </List>
    </Page>
  )
}

const back = { href: '/mandates', label: 'Mandates' }

export const MandatePage = ({ id }: { id: string }) => {
  const mandate = useQuery(mandateQuery(id))
  const { can } = useSession()
  return (
    <Page
      title={mandate.data?.description ?? 'Mandate'}
      back={back}
      actions={
        mandate.data && (
          <ConfirmButton
            button={{
              variant: 'danger',
              children: 'Revoke',
              offered: mandate.data.status === 'active' && can('mandate.manage'),
            }}
            title="Revoke this mandate?"
            action="Revoke"
            change={() => api.POST('/v1/intent-mandates/{id}/revoke', { path: { id }, body: {} })}
            announcement={() => 'Mandate revoked'}
            outdates={['mandates']}
            keeps={() => mandateQuery(id)}
          >
            <p>It approves no further payments. Payments already sent still arrive.</p>
          </ConfirmButton>
        )
      }
    >
      <LoadState query={mandate} path={`/v1/intent-mandates/${id}`} />
      {mandate.data && <Detail mandate={mandate.data} />}
    </Page>
  )
}

const Detail = ({ mandate }: { mandate: Schemas['IntentMandate'] }) => {
  const { currency } = useSession()
  const nameOf = useBeneficiaryNames(mandate.beneficiary_ids)
  return (
    <>
      <Card>
        <div className="stack-s">
          <div className="row row-between">
            <p>
              <span className="amount-medium">{moneyText(mandate.spent_minor, currency)}</span>{' '}
              <span className="quiet">of {moneyText(mandate.max_total_minor, currency)} used</span>
            </p>
            <StatusBadge status={mandate.status} />
          </div>
          <Meter used={mandate.spent_minor} limit={mandate.max_total_minor} currency={currency} label="Used" />
        </div>
      </Card>
      <Card title="Terms">
        <Facts
          stacked
          facts={{
            'Per payment':
              mandate.max_per_payment_minor === null
                ? 'No limit below the total'
                : `Up to ${moneyText(mandate.max_per_payment_minor, currency)}`,
            Payments:
              mandate.max_payments === null
                ? `${mandate.payments_made} so far`
                : `${mandate.payments_made} of ${mandate.max_payments}`,
            Beneficiaries: mandate.beneficiary_ids.length === 0 ? 'Anyone' : listWords(mandate.beneficiary_ids.map(nameOf)),
            Types: mandate.payment_types.length === 0 ? 'Any' : listWords(mandate.payment_types.map(typeLabel)),
            Starts: <ExactTime at={mandate.valid_from} />,
            Ends: <ExactTime at={mandate.expires_at} />,
            Revoked: mandate.revoked_at && <ExactTime at={mandate.revoked_at} />,
            'Signed by': <CopyText value={mandate.signer} text={shortAddress(mandate.signer)} label="wallet address" />,
            '': <CopyButton value={mandate.id}>Copy mandate ID</CopyButton>,
          }}
        />
      </Card>
      <Card title="Signed message">
        <SignedText message={mandate.message} />
      </Card>
    </>
  )
}

const weekMs = 7 * 86_400_000

export const NewMandatePage = () => {
  const { currency, workspace } = useSession()
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const beneficiaries = useBeneficiaries()
  const grants = useEvery(grantsQuery)
  const { value, set } = useFields(() => ({
    description: '',
    total: '',
    perPayment: '',
    count: '',
    recipients: [] as string[],
    types: [] as string[],
    grant: '',
    until: localInput(new Date(now() + weekMs)),
  }))
  const { description, total, perPayment, count, recipients, types, grant, until } = value
  const nonce = useRef('')

  const totalMinor = parseMajor(total)
  const perMinor = perPayment.trim() === '' ? undefined : parseMajor(perPayment)
  const terms =
    description.trim() !== '' && totalMinor !== null && totalMinor !== '0' && perMinor !== null && until !== ''
      ? {
          workspace_id: workspace.id,
          description: description.trim(),
          max_total_minor: totalMinor,
          ...(perMinor !== undefined && { max_per_payment_minor: perMinor }),
          ...(count.trim() !== '' && { max_payments: Number(count) }),
          ...(recipients.length > 0 && { beneficiary_ids: recipients }),
          ...(types.length > 0 && { payment_types: types }),
          ...(grant && { grant_id: grant }),
          expires_at: fromLocalInput(until).toISOString(),
        }
      : null

  const flow = useWalletFlow({
    prepare: async (address) => {
      if (!terms) throw new Error('Complete the mandate first.')
      const prepared = await api.POST('/v1/intent-mandates/prepare', { body: { address, terms } })
      nonce.current = prepared.nonce
      return prepared.message
    },
    send: ({ address, signature }) => {
      if (!terms) throw new Error('Complete the mandate first.')
      return api.POST('/v1/intent-mandates', { body: { address, terms, nonce: nonce.current, signature } })
    },
    done: (mandate) => {
      void client.invalidateQueries({ queryKey: ['mandates'] })
      announce('Mandate signed')
      navigate(`/mandates/${mandate.id}`)
    },
  })
  const agents = rowsOf(grants).filter((grant) => grant.revoked_at === null && grant.workspace_id === workspace.id)
  const field = fieldsOf(value, set, flow.error)
  return (
    <Page title="New mandate" back={{ href: '/mandates', label: 'Mandates' }}>
      <div className="split">
        <Card>
          <TextField
            label="Purpose"
            {...field('description', 'terms.description')}
            maxLength={140}
            placeholder="For example: catering this week"
          />
          <div className="columns">
            <MoneyField label="Total limit" {...field('total', 'terms.max_total_minor')} currency={currency} />
            <MoneyField
              label="Per-payment limit"
              optional
              {...field('perPayment', 'terms.max_per_payment_minor')}
              currency={currency}
            />
          </div>
          <div className="columns">
            <TextField
              label="Number of payments"
              optional
              inputMode="numeric"
              {...field('count', 'terms.max_payments')}
              onChange={(typed) => set({ count: typed.replace(/\D/g, '') })}
            />
            <TextField label="Ends" type="datetime-local" {...field('until', 'terms.expires_at')} />
          </div>
          <BeneficiariesField beneficiaries={beneficiaries} {...field('recipients', 'terms.beneficiary_ids')} />
          <PaymentTypesField {...field('types', 'terms.payment_types')} />
          <SelectField
            label="Who can use it"
            {...field('grant', 'terms.grant_id')}
            none="Only me"
            options={agents.map(({ id, label }) => ({ value: id, label: `${label} (key or agent)` }))}
            hint="An agent can only use a mandate that was made for it."
          />
        </Card>
        <div className="stack split-aside">
          <Card title="What you sign">
            {terms ? (
              <p className="sentence">
                Payments{types.length > 0 && ` of type ${listWords(types.map(typeLabel), 'or')}`}
                {recipients.length > 0 ? ` to ${listWords(recipients.map(beneficiaries.nameOf), 'or')}` : ' to anyone'} of up to{' '}
                {moneyText(terms.max_total_minor, currency)} in total
                {terms.max_per_payment_minor !== undefined && `, ${moneyText(terms.max_per_payment_minor, currency)} each`}
                {terms.max_payments !== undefined && `, ${countWords(terms.max_payments, 'payment')} at most`} are approved by me
                until {fullTime(terms.expires_at)}.
              </p>
            ) : (
              <p className="quiet">Enter a purpose and a total limit.</p>
            )}
            <TextNotice tone="info">Policies and key limits still apply. You can revoke it at any time.</TextNotice>
            {terms && <WalletPicker flow={flow} verb="Sign with" />}
          </Card>
        </div>
      </div>
    </Page>
  )
}
