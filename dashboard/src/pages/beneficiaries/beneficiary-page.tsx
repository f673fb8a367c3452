import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { beneficiaryQuery, paymentsQuery } from '../../api/queries.ts'
import type { Body, Schemas } from '../../api/types.ts'
import { bankName } from '../../lib/banks.ts'
import { railLabels } from '../../lib/rails.ts'
import { LoadFailure } from '../../shell/load-failure.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { CopyButton } from '../../ui/copy.tsx'
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
                {status === 'frozen' ? 'Unfreeze' : 'Freeze'}
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
        <Notice tone="warn" title="Payments to this beneficiary are frozen">
          <p className="quiet">This applies to the destination, also if it is added again under another name.</p>
        </Notice>
      )}
      <Card title="Details">
        <Facts
          stacked
          facts={[
            ['Status', <StatusBadge key="status" status={status} />],
            ['Payment method', railLabels[beneficiary.payment_rail]],
            [
              'Destination',
              <span key="mask" className="mono">
                {beneficiary.destination_mask}
              </span>,
            ],
            ['Bank', beneficiary.bank_code && bankName(beneficiary.bank_code)],
            ['Legal name', beneficiary.legal_name],
            ['Category', beneficiary.type],
            ['Account reference', beneficiary.account_reference_required ? 'Required' : 'Optional'],
            ['Added', <ExactTime key="since" at={beneficiary.created_at} />],
            [
              '',
              <CopyButton key="id" value={beneficiary.id}>
                Copy ID
              </CopyButton>,
            ],
          ]}
        />
      </Card>
      <Card title="Payments" flush>
        <Listing query={payments} rows={3} empty={<Empty icon="payments" title="No payments yet" />}>
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
          title={`${status === 'frozen' ? 'Unfreeze' : 'Freeze'} ${beneficiary.display_name}?`}
          action={status === 'frozen' ? 'Unfreeze' : 'Freeze'}
          harmless={status === 'frozen'}
          busy={update.isPending}
          error={update.error}
          onConfirm={() => update.mutate({ status: status === 'frozen' ? 'active' : 'frozen' })}
          onClose={close}
        >
          <p>
            {status === 'frozen'
              ? 'Payments to this destination can be made again.'
              : 'No more payments go to this destination until you unfreeze it. Payments already sent still arrive.'}
          </p>
        </Confirm>
      )}
      {open === 'archive' && (
        <Confirm
          title={`Archive ${beneficiary.display_name}?`}
          action="Archive"
          busy={archive.isPending}
          error={archive.error}
          onConfirm={() => archive.mutate()}
          onClose={close}
        >
          <p>It can no longer be paid, and this can’t be undone. Its past payments stay in the list.</p>
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
      <TextField label="Category" value={type} onChange={setType} maxLength={64} error={fieldError(update.error, 'type')} />
      <CheckField label="Require an account reference" checked={required} onChange={setRequired} />
      <Failure error={update.error} />
    </Dialog>
  )
}
