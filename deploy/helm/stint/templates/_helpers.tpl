{{/* The labels that select the pods of one part, "server" or "worker". */}}
{{- define "stint.selector" -}}
app.kubernetes.io/name: stint
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "stint.labels" -}}
{{ include "stint.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "stint.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* A pod: what server and workers have in common. `settings` are variables that the part itself sets. */}}
{{- define "stint.pod" -}}
{{- $values := index .root.Values .part -}}
metadata:
  labels:
    {{- include "stint.labels" . | nindent 4 }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile:
      type: RuntimeDefault
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "stint.selector" . | nindent 10 }}
  containers:
    - name: stint
      image: {{ include "stint.image" .root | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{ toJson .args }}
      env:
        - name: STINT_DATABASE_URL_FILE
          value: /run/secrets/stint/database-url
        {{- with .root.Values.jobs }}
        - name: STINT_JOBS
          value: {{ toJson . | quote }}
        {{- end }}
        {{- range $name, $value := merge (dict) $values.settings .root.Values.settings .settings }}
        - name: {{ $name }}
          value: {{ kindIs "float64" $value | ternary (int64 $value) $value | toString | quote }}
        {{- end }}
      ports:
        - name: http
          containerPort: 7070
      startupProbe:
        httpGet: { path: /health, port: http }
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 60
      readinessProbe:
        httpGet: { path: /health, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
      # Without the database, which a restart would not bring back; longer than a handler may block the event loop.
      livenessProbe:
        httpGet: { path: /, port: http }
        periodSeconds: 30
        timeoutSeconds: 10
        failureThreshold: 22
      # Until the service sends no more requests to this pod.
      lifecycle:
        preStop:
          exec: { command: [sleep, "5"] }
      {{- with $values.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - { name: secrets, mountPath: /run/secrets/stint, readOnly: true }
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
  volumes:
    - name: secrets
      projected:
        defaultMode: 0440
        sources:
          - secret:
              name: {{ .root.Values.database.secretName | quote }}
              items:
                - { key: {{ .root.Values.database.key | quote }}, path: database-url }
          {{- if eq .part "server" }}
          - secret:
              name: {{ .root.Values.tokens.secretName | quote }}
              items:
                - { key: {{ .root.Values.tokens.key | quote }}, path: tokens.json }
          {{- end }}
    - { name: data, emptyDir: {} }
    - { name: tmp, emptyDir: {} }
{{- end }}

{{/* A disruption budget, unless it is off or there is only one pod, which it would make impossible to move. */}}
{{- define "stint.podDisruptionBudget" -}}
{{- $values := index .root.Values .part -}}
{{- if and $values.podDisruptionBudget.enabled (gt (int $values.replicas) 1) }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .root.Release.Name }}-{{ .part }}
  labels:
    {{- include "stint.labels" . | nindent 4 }}
spec:
  minAvailable: {{ $values.podDisruptionBudget.minAvailable }}
  selector:
    matchLabels:
      {{- include "stint.selector" . | nindent 6 }}
{{- end }}
{{- end }}
