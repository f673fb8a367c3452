import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { beneficiaryQuery, paymentsQuery } from '../../api/queries.ts'
import type { Body, Schemas } from '../../api/types.ts'
import { railLabels } from '../../lib/rails.ts'
import { LoadFailure } from '../../shell/load-failure.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { CheckField, TextField } from '../../ui/field.tsx'
import { Card, Empty, Facts, Notice, PageHeader, SkeletonRows } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { announce } from '../../ui/toast.tsx'
import { PaymentRow } from '../payments/payment-row.tsx'

type Beneficiary = Schemas['Beneficiary']
const back = { href: '/beneficiaries', label: 'Beneficiaries' }

export const BeneficiaryPage = ({ id }: { id: string }) => {
  const beneficiary = useQuery(beneficiaryQuery(id))
  if (beneficiary.data) return <BeneficiaryDetail beneficiary={beneficiary.data} />
  return (
    <div className="stack">
      <PageHeader title="Beneficiary" back={back} />
      {beneficiary.isError ? (
        <LoadFailure error={beneficiary.error} path={`/v1/beneficiaries/${id}`} onRetry={() => void beneficiary.refetch()} />
      ) : (
        <div className="card">
          <SkeletonRows rows={2} />
        </div>
      )}
    </div>
  )
}

const useChange = (id: string, done: (after: Beneficiary) => void) => {
  const client = useQueryClient()
  const keep = (after: Beneficiary) => {
    client.setQueryData(beneficiaryQuery(id).queryKey, after)
    void client.invalidateQueries({ queryKey: ['beneficiaries'] })
    done(after)
  }
  const params = { path: { id } }
  return {
    update: useMutation({
      mutationFn: (body: Body<'/v1/beneficiaries/{id}', 'patch'>) => call(api.PATCH('/v1/beneficiaries/{id}', { params, body })),
      onSuccess: keep,
    }),
    archive: useMutation({ mutationFn: () => call(api.DELETE('/v1/beneficiaries/{id}', { params })), onSuccess: keep }),
  }
}

type Open = 'edit' | 'freeze' | 'archive' | null

const BeneficiaryDetail = ({ beneficiary }: { beneficiary: Beneficiary }) => {
  const { can } = useSession()
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const { update, archive } = useChange(beneficiary.id, (after) => {
    announce(after.status === 'archived' ? 'Archived' : 'Saved')
    close()
  })
  const { status } = beneficiary
  const manages = can('beneficiary.manage') && status !== 'archived'
  const payments = useInfiniteQuery(paymentsQuery({ beneficiary_id: beneficiary.id }))
  return (
    <div className="stack">
      <PageHeader
        title={beneficiary.display_name}
        back={back}
        actions={
          <>
            {manages && <Button onClick={() => setOpen('edit')}>Edit</Button>}
            {manages && (
              <Button icon="freeze" onClick={() => setOpen('freeze')}>
                {status === 'frozen' ? 'Allow payments' : 'Stop payments'}
              </Button>
            )}
            {manages && (
              <Button variant="danger" onClick={() => setOpen('archive')}>
                Archive
              </Button>
            )}
            {can('payment.create') && status === 'active' && (
              <LinkButton href={`/payments/new?beneficiary=${beneficiary.id}`} variant="primary" icon="payments">
                Pay
              </LinkButton>
            )}
          </>
        }
      />
      {status === 'frozen' && (
        <Notice tone="warn" title="Payments to it are stopped">
          <p className="quiet">That holds for its destination: adding the same payee again changes nothing.</p>
        </Notice>
      )}
      <Card title="Details">
        <Facts
          stacked
          facts={[
            ['Status', <StatusBadge key="status" status={status} />],
            ['Paid by', railLabels[beneficiary.payment_rail]],
            [
              'Destination',
              <span key="mask" className="mono">
                {beneficiary.destination_mask}
              </span>,
            ],
            ['Bank code', beneficiary.bank_code],
            ['Legal name', beneficiary.legal_name],
            ['Type', beneficiary.type],
            ['Account reference', beneficiary.account_reference_required ? 'Required' : 'Optional'],
            ['Since', <ExactTime key="since" at={beneficiary.created_at} />],
            ['Id', <CopyText key="id" value={beneficiary.id} label="beneficiary id" />],
          ]}
        />
      </Card>
      <Card title="Payments" flush>
        <Listing query={payments} rows={3} empty={<Empty icon="payments" title="Nothing paid to it yet" />}>
          {(rows) => (
            <ul className="rows">
              {rows.map((payment) => (
                <li key={payment.id}>
                  <PaymentRow payment={payment} name={beneficiary.display_name} />
                </li>
              ))}
            </ul>
          )}
        </Listing>
      </Card>
      {open === 'edit' && <EditDialog beneficiary={beneficiary} update={update} onClose={close} />}
      {open === 'freeze' && (
        <Confirm
          title={status === 'frozen' ? 'Allow payments again?' : 'Stop payments to it?'}
          action={status === 'frozen' ? 'Allow payments' : 'Stop payments'}
          harmless={status === 'frozen'}
          busy={update.isPending}
          error={update.error}
          onConfirm={() => update.mutate({ status: status === 'frozen' ? 'active' : 'frozen' })}
          onClose={close}
        >
          <p>
            {status === 'frozen'
              ? 'Payments to this destination can be made again, under the same policies as before.'
              : 'No payment to this destination goes out any more, whatever it is called, until you allow it again. Payments under way finish.'}
          </p>
        </Confirm>
      )}
      {open === 'archive' && (
        <Confirm
          title="Archive this beneficiary?"
          action="Archive"
          busy={archive.isPending}
          error={archive.error}
          onConfirm={() => archive.mutate()}
          onClose={close}
        >
          <p>It can’t be paid any more and doesn’t come back. What was paid to it stays in the list of payments.</p>
        </Confirm>
      )}
    </div>
  )
}

const EditDialog = ({
  beneficiary,
  update,
  onClose,
}: {
  beneficiary: Beneficiary
  update: ReturnType<typeof useChange>['update']
  onClose: () => void
}) => {
  const [name, setName] = useState(beneficiary.display_name)
  const [legalName, setLegalName] = useState(beneficiary.legal_name ?? '')
  const [type, setType] = useState(beneficiary.type)
  const [required, setRequired] = useState(beneficiary.account_reference_required)
  return (
    <Dialog
      title="Edit beneficiary"
      onClose={onClose}
      onSubmit={() =>
        update.mutate({
          display_name: name.trim(),
          legal_name: legalName.trim() || null,
          type: type.trim(),
          account_reference_required: required,
        })
      }
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={update.isPending}>
            Save
          </Button>
        </>
      }
    >
      <TextField label="Name" value={name} onChange={setName} maxLength={120} error={fieldError(update.error, 'display_name')} />
      <TextField
        label="Legal name"
        optional
        value={legalName}
        onChange={setLegalName}
        maxLength={120}
        error={fieldError(update.error, 'legal_name')}
      />
      <TextField label="Type" value={type} onChange={setType} maxLength={64} error={fieldError(update.error, 'type')} />
      <CheckField label="Payments need an account reference" checked={required} onChange={setRequired} />
      <Failure error={update.error} />
    </Dialog>
  )
}
