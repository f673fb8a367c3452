import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { Redirect, useLocation } from 'wouter'
import { useBeneficiaries, useBeneficiaryNames } from '../../api/names.ts'
import { api, grantsQuery, mandateQuery, mandatesQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { useFields } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { typeLabel } from '../../lib/rails.ts'
import { fromLocalInput, fullTime, localInput, now } from '../../lib/time.ts'
import { listWords, moneyText, parseMajor, shortAddress, shortMoney } from '../../lib/words.ts'
import { LoadState } from '../../shell/load-state.tsx'
import { useSession } from '../../shell/session.tsx'
import { BeneficiariesField } from '../../ui/beneficiary-field.tsx'
import { NewLink } from '../../ui/button.tsx'
import { CopyButton, CopyText } from '../../ui/copy.tsx'
import { fieldsOf, MoneyField, SelectField, TextField } from '../../ui/field.tsx'
import { ConfirmButton } from '../../ui/form.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Meter } from '../../ui/meter.tsx'
import { Card, Empty, ExactTime, Facts, Page, StatusBadge, TextNotice, Time } from '../../ui/page.tsx'
import { PaymentTypesField } from '../../ui/pick-many.tsx'
import { announce } from '../../ui/toast.tsx'
import { useWalletFlow, WalletPicker } from '../../wallet/wallet.tsx'
import { SignedText } from '../approvals/sign-decision.tsx'
import { richMandate, tMandate } from './texts.ts'

const Row = ({ mandate, currency }: { mandate: Schemas['IntentMandate']; currency: string }) => (
  <Item
    href={`/mandates/${mandate.id}`}
    icon="mandate"
    title={mandate.description}
    note={richMandate(mandate.status === 'active' ? 'ends_at' : 'ended_at', {
      used: moneyText(mandate.spent_minor, currency),
      limit: moneyText(mandate.max_total_minor, currency),
      at: <Time at={mandate.expires_at} />,
      meter: <Meter used={mandate.spent_minor} limit={mandate.max_total_minor} currency={currency} label={tMandate('used')} />,
    })}
  >
    <StatusBadge status={mandate.status} />
  </Item>
)

export const MandatesPage = () => {
  const { currency, can, isOwningAccount } = useSession()
  const create = can('mandate.manage') && isOwningAccount && <NewLink href="/mandates/new">{tMandate('mandate.new')}</NewLink>
  return (
    <Page title={t('nav.mandates')} lead={tMandate('mandates.note')} actions={create}>
      <List
        label={t('nav.mandates')}
        query={mandatesQuery}
        rows={2}
        empty={
          <Empty icon="mandate" title={tMandate('mandates.none')} actions={create}>
            {tMandate('mandates.none_note', { amount: shortMoney('200000', currency) })}
          </Empty>
        }
      >
        {(mandate) => <Row mandate={mandate} currency={currency} />}
      </List>
    </Page>
  )
}

const back = { href: '/mandates', label: t('nav.mandates') }

export const MandatePage = ({ id }: { id: string }) => {
  const mandate = useQuery(mandateQuery(id))
  const { can } = useSession()
  return (
    <Page
      title={mandate.data?.description ?? t('mandate')}
      back={back}
      actions={
        mandate.data && (
          <ConfirmButton
            button={{
              variant: 'danger',
              children: tMandate('revoke'),
              offered: mandate.data.status === 'active' && can('mandate.manage'),
            }}
            title={tMandate('revoke.title')}
            action={tMandate('revoke')}
            change={() => api.POST('/v1/intent-mandates/{id}/revoke', { path: { id }, body: {} })}
            announcement={() => tMandate('revoke.done')}
            invalidates={['mandates']}
            cachesAs={() => mandateQuery(id)}
          >
            <p>{tMandate('revoke.note')}</p>
          </ConfirmButton>
        )
      }
    >
      <LoadState query={mandate} apiPath={`/v1/intent-mandates/${id}`} />
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
              <span className="muted">{tMandate('of_used', { amount: moneyText(mandate.max_total_minor, currency) })}</span>
            </p>
            <StatusBadge status={mandate.status} />
          </div>
          <Meter used={mandate.spent_minor} limit={mandate.max_total_minor} currency={currency} label={tMandate('used')} />
        </div>
      </Card>
      <Card title={tMandate('terms')}>
        <Facts
          stacked
          facts={{
            [tMandate('per_payment')]:
              mandate.max_per_payment_minor === null
                ? tMandate('no_lower')
                : tMandate('up_to', { amount: moneyText(mandate.max_per_payment_minor, currency) }),
            [t('payments_label')]:
              mandate.max_payments === null
                ? tMandate('so_far', { payments_made: mandate.payments_made })
                : tMandate('made_of', { payments_made: mandate.payments_made, max_payments: mandate.max_payments }),
            [t('nav.beneficiaries')]:
              mandate.beneficiary_ids.length === 0 ? t('anyone') : listWords(mandate.beneficiary_ids.map(nameOf)),
            [tMandate('types')]: mandate.payment_types.length === 0 ? t('any') : listWords(mandate.payment_types.map(typeLabel)),
            [tMandate('starts')]: <ExactTime at={mandate.valid_from} />,
            [tMandate('ends')]: <ExactTime at={mandate.expires_at} />,
            [tMandate('revoked')]: mandate.revoked_at && <ExactTime at={mandate.revoked_at} />,
            [tMandate('signed_by')]: (
              <CopyText value={mandate.signer} text={shortAddress(mandate.signer)} label={tMandate('wallet_address')} />
            ),
            '': <CopyButton value={mandate.id}>{tMandate('copy_id')}</CopyButton>,
          }}
        />
      </Card>
      <Card title={tMandate('signed_message')}>
        <SignedText message={mandate.message} />
      </Card>
    </>
  )
}

const weekMs = 7 * 86_400_000

/** Only the owning account can sign: the service refuses the signature of others. */
export const NewMandatePage = () => (useSession().isOwningAccount ? <MandateForm /> : <Redirect to="/mandates" replace />)

const MandateForm = () => {
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
  const ends = fromLocalInput(until)
  const terms =
    description.trim() !== '' && totalMinor !== null && totalMinor !== '0' && perMinor !== null && ends
      ? {
          workspace_id: workspace.id,
          description: description.trim(),
          max_total_minor: totalMinor,
          ...(perMinor !== undefined && { max_per_payment_minor: perMinor }),
          ...(count.trim() !== '' && { max_payments: Number(count) }),
          ...(recipients.length > 0 && { beneficiary_ids: recipients }),
          ...(types.length > 0 && { payment_types: types }),
          ...(grant && { grant_id: grant }),
          expires_at: ends.toISOString(),
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
      announce(tMandate('mandate.signed'))
      navigate(`/mandates/${mandate.id}`)
    },
  })
  const agents = rowsOf(grants).filter((grant) => grant.revoked_at === null && grant.workspace_id === workspace.id)
  const field = fieldsOf(value, set, flow.error)
  return (
    <Page title={tMandate('mandate.new')} back={{ href: '/mandates', label: t('nav.mandates') }}>
      <div className="split">
        <Card>
          <TextField
            label={t('purpose')}
            {...field('description', 'terms.description')}
            maxLength={140}
            placeholder={tMandate('purpose.example')}
          />
          <div className="columns">
            <MoneyField label={tMandate('total_limit')} {...field('total', 'terms.max_total_minor')} currency={currency} />
            <MoneyField
              label={tMandate('payment_limit')}
              optional
              {...field('perPayment', 'terms.max_per_payment_minor')}
              currency={currency}
            />
          </div>
          <div className="columns">
            <TextField
              label={tMandate('payments_number')}
              optional
              inputMode="numeric"
              {...field('count', 'terms.max_payments')}
              onChange={(typed) => set({ count: typed.replace(/\D/g, '') })}
            />
            <TextField label={tMandate('ends')} type="datetime-local" {...field('until', 'terms.expires_at')} />
          </div>
          <BeneficiariesField beneficiaries={beneficiaries} {...field('recipients', 'terms.beneficiary_ids')} />
          <PaymentTypesField {...field('types', 'terms.payment_types')} />
          <SelectField
            label={tMandate('who_uses')}
            {...field('grant', 'terms.grant_id')}
            emptyLabel={tMandate('only_me')}
            options={agents.map(({ id, label }) => ({ value: id, label: tMandate('key_or_agent', { label }) }))}
            hint={tMandate('who_uses.hint')}
          />
        </Card>
        <div className="stack split-aside">
          <Card title={t('what_you_sign')}>
            {terms ? (
              <p className="sentence">
                {tMandate('mandate.sentence', {
                  types: types.length > 0 ? tMandate('of_types', { types: listWords(types.map(typeLabel), 'or') }) : '',
                  payees:
                    recipients.length > 0
                      ? tMandate('to_names', { names: listWords(recipients.map(beneficiaries.nameOf), 'or') })
                      : tMandate('to_anyone'),
                  amount: moneyText(terms.max_total_minor, currency),
                  each:
                    terms.max_per_payment_minor === undefined
                      ? ''
                      : tMandate('each', { amount: moneyText(terms.max_per_payment_minor, currency) }),
                  most: terms.max_payments === undefined ? '' : tMandate('most', { count: terms.max_payments }),
                  at: fullTime(terms.expires_at),
                })}
              </p>
            ) : (
              <p className="muted">{tMandate('needs_both')}</p>
            )}
            <TextNotice tone="info">{tMandate('still')}</TextNotice>
            {terms && <WalletPicker flow={flow} label="sign_with" />}
          </Card>
        </div>
      </div>
    </Page>
  )
}
