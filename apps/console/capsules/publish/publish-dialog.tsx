// Shows a sealed capsule to everyone. It cannot be taken back, so the readme is seen before as it will look.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { messageOf } from '../../api/api-error.js'
import { api, bodyOf } from '../../api/client.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import { AreaField, Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Modal } from '../../components/modal.js'
import { Refusal } from '../../components/notice.js'
import type { ReadCapsule } from '../record/capsule-record.js'
import { Readme } from './readme.js'

export function PublishDialog({ capsule: { record }, onClose }: { capsule: ReadCapsule; onClose: () => void }) {
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const [form, setForm] = useState({
    title: record.name,
    description: record.description,
    readme: '',
    license: '',
    category: '',
    tags: record.tags.join(', ')
  })
  const [seen, setSeen] = useState(false)
  const set = (name: keyof typeof form) => (value: string) => setForm((known) => ({ ...known, [name]: value }))
  const publish = useMutation({
    mutationFn: () => {
      const { title, description, readme, license, category } = form
      const tags = form.tags
        .split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== '')
      const body = {
        title,
        description,
        tags,
        ...(readme !== '' && { readme }),
        ...(license !== '' && { license }),
        ...(category !== '' && { category })
      }
      return withKey([record.id, body], (header) =>
        bodyOf(
          api.POST('/api/capsules/{id}/publish', { params: { path: { id: record.id }, header }, body, parseAs: 'text' })
        )
      )
    },
    onSuccess: onClose,
    onSettled: async () => {
      void queryClient.invalidateQueries({ queryKey: ['capsules'] })
      await queryClient.invalidateQueries({ queryKey: ['capsule', record.id] })
    }
  })
  const message = publish.error ? messageOf(publish.error) : ''
  const faultAt = (field: string) => (message.startsWith(`${field}: `) ? message.slice(field.length + 2) : null)
  const send = (event: FormEvent) => {
    event.preventDefault()
    publish.mutate()
  }
  return (
    <Modal title="Publish this capsule" onClose={onClose}>
      <form className={layout.panel} onSubmit={send}>
        <p>
          This is final. Everyone can then read its programs, parameters, results and verdicts, without an account, and
          download it with the costs of its jobs. It can no longer be archived. Neither your name nor that of your team
          is shown.
        </p>
        <Field
          label="Title"
          value={form.title}
          onChange={set('title')}
          maxLength={200}
          fault={faultAt('title')}
          isRequired
        />
        <Field
          label="Description"
          value={form.description}
          onChange={set('description')}
          maxLength={2_000}
          fault={faultAt('description')}
          isRequired
        />
        <div className={layout.filters}>
          <Field
            label="License (optional)"
            value={form.license}
            onChange={set('license')}
            maxLength={100}
            fault={faultAt('license')}
            help="For example CC-BY-4.0"
          />
          <Field
            label="Category (optional)"
            value={form.category}
            onChange={set('category')}
            maxLength={100}
            fault={faultAt('category')}
          />
          <Field
            label="Tags, with commas between"
            value={form.tags}
            onChange={set('tags')}
            maxLength={520}
            fault={faultAt('tags')}
          />
        </div>
        <AreaField
          label="Readme in Markdown (optional)"
          value={form.readme}
          onChange={set('readme')}
          maxLength={50_000}
          rows={10}
          fault={faultAt('readme')}
        />
        <Button onPress={() => setSeen(!seen)}>{seen ? 'Hide the preview' : 'Preview the readme'}</Button>
        {seen ? (
          <section aria-label="Preview of the readme">
            <Readme text={form.readme} />
          </section>
        ) : null}
        <Refusal error={publish.error} />
        <div className={layout.bar}>
          <Button kind="main" type="submit" isDisabled={publish.isPending}>
            Publish
          </Button>
          <Button onPress={onClose}>Close</Button>
        </div>
      </form>
    </Modal>
  )
}
