import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api, call } from '../../api/client.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { type RailName, railLabels } from '../../lib/rails.ts'
import { Button } from '../../ui/button.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { CheckField, ChoiceField, TextField } from '../../ui/field.tsx'
import { Card, PageHeader } from '../../ui/layout.tsx'
import { announce } from '../../ui/toast.tsx'

const destinations: Readonly<Record<RailName, { label: string; hint: string; placeholder: string }>> = {
  MPESA_B2C: { label: 'Mobile number', hint: 'A Kenyan number: 07…, 01… or +254…', placeholder: '0712 345 678' },
  MPESA_B2B: { label: 'Paybill or till number', hint: '5 to 7 digits', placeholder: '888880' },
  PESALINK: { label: 'Account number', hint: 'With a bank code. Without one, a mobile number.', placeholder: '0011547896523' },
}

const railChoices = [
  { value: 'MPESA_B2C', label: railLabels.MPESA_B2C, hint: '10 to 250,000 KES' },
  { value: 'MPESA_B2B', label: railLabels.MPESA_B2B, hint: 'A paybill or a till' },
  { value: 'PESALINK', label: railLabels.PESALINK, hint: '10 to 999,999 KES' },
] as const

export const NewBeneficiaryPage = () => {
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const keyFor = useIdempotencyKey()
  const [rail, setRail] = useState<RailName>('MPESA_B2C')
  const [name, setName] = useState('')
  const [destination, setDestination] = useState('')
  const [bankCode, setBankCode] = useState('')
  const [legalName, setLegalName] = useState('')
  const [type, setType] = useState('')
  const [referenceRequired, setReferenceRequired] = useState(false)

  const save = useMutation({
    mutationFn: () => {
      const body = {
        type: type.trim() || (rail === 'MPESA_B2C' ? 'individual' : 'business'),
        display_name: name.trim(),
        payment_rail: rail,
        destination: destination.replaceAll(' ', ''),
        ...(legalName.trim() && { legal_name: legalName.trim() }),
        ...(referenceRequired && { account_reference_required: true }),
        ...(rail === 'PESALINK' && bankCode.trim() && { bank_code: bankCode.trim() }),
      }
      return call(api.POST('/v1/beneficiaries', { body, headers: keyFor(body) }))
    },
    onSuccess: (beneficiary) => {
      void client.invalidateQueries({ queryKey: ['beneficiaries'] })
      announce(`${beneficiary.display_name} added`)
      navigate(`/beneficiaries/${beneficiary.id}`)
    },
  })
  const wording = destinations[rail]
  const ready = name.trim() !== '' && destination.trim() !== ''
  return (
    <div className="stack">
      <PageHeader title="Add a beneficiary" back={{ href: '/beneficiaries', label: 'Beneficiaries' }} />
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (ready && !save.isPending) save.mutate()
        }}
      >
        <Card
          footer={
            <Button type="submit" variant="primary" busy={save.isPending} disabled={!ready}>
              Add beneficiary
            </Button>
          }
        >
          <div className="stack">
            <ChoiceField label="How it is paid" value={rail} onChange={setRail} choices={railChoices} inRow />
            <div className="columns">
              <TextField
                label="Name"
                value={name}
                onChange={setName}
                maxLength={120}
                hint="What you call it"
                error={fieldError(save.error, 'display_name')}
              />
              <TextField
                label={wording.label}
                value={destination}
                onChange={setDestination}
                hint={wording.hint}
                placeholder={wording.placeholder}
                inputMode={rail === 'PESALINK' ? 'text' : 'numeric'}
                mono
                error={fieldError(save.error, 'destination')}
              />
              {rail === 'PESALINK' && (
                <TextField
                  label="Bank code"
                  optional
                  value={bankCode}
                  onChange={setBankCode}
                  maxLength={16}
                  mono
                  hint="The bank’s code in PesaLink"
                  error={fieldError(save.error, 'bank_code')}
                />
              )}
            </div>
            <div className="columns">
              <TextField
                label="Legal name"
                optional
                value={legalName}
                onChange={setLegalName}
                maxLength={120}
                error={fieldError(save.error, 'legal_name')}
              />
              <TextField
                label="Type"
                optional
                value={type}
                onChange={setType}
                maxLength={64}
                hint="For example supplier, employee, utility"
                error={fieldError(save.error, 'type')}
              />
            </div>
            <CheckField
              label="Payments need an account reference"
              hint="An invoice or account number."
              checked={referenceRequired}
              onChange={setReferenceRequired}
            />
            <p className="faint small">
              The destination is encrypted at once and can’t be read or changed afterwards: to change it, archive this beneficiary
              and add another.
            </p>
            <Failure error={save.error} />
          </div>
        </Card>
      </form>
    </div>
  )
}
