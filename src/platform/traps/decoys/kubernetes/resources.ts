import { hash } from 'node:crypto';

/** Kind of object that the server has. */
export interface KubeResource {
  name: string;
  kind: string;
  shortNames: readonly string[];
  namespaced: boolean;
  categories: readonly string[];
  verbs: readonly string[];
  subresources: readonly string[];
}

export interface KubeGroup {
  /** Name of the group; empty for the core group. */
  name: string;
  version: string;
  resources: readonly KubeResource[];
}

const ALL = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const VERBS: Readonly<Record<string, readonly string[]>> = {
  '*': ALL,
  create: ['create'],
  read: ['get', 'list'],
  namespaces: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
};

/** Kind, name, short names, scope, verbs, categories and subresources of a cluster of version 1.30. */
const TABLE: Readonly<Record<string, string>> = {
  '/v1': `
    Binding bindings - n create
    ComponentStatus componentstatuses cs c read
    ConfigMap configmaps cm n *
    Endpoints endpoints ep n *
    Event events ev n *
    LimitRange limitranges limits n *
    Namespace namespaces ns c namespaces - finalize,status
    Node nodes no c * - proxy,status
    PersistentVolumeClaim persistentvolumeclaims pvc n * - status
    PersistentVolume persistentvolumes pv c * - status
    Pod pods po n * all attach,binding,ephemeralcontainers,eviction,exec,log,portforward,proxy,status
    PodTemplate podtemplates - n *
    ReplicationController replicationcontrollers rc n * all scale,status
    ResourceQuota resourcequotas quota n * - status
    Secret secrets - n *
    ServiceAccount serviceaccounts sa n * - token
    Service services svc n * all proxy,status`,
  'apiregistration.k8s.io/v1': 'APIService apiservices - c * api-extensions status',
  'apps/v1': `
    ControllerRevision controllerrevisions - n *
    DaemonSet daemonsets ds n * all status
    Deployment deployments deploy n * all scale,status
    ReplicaSet replicasets rs n * all scale,status
    StatefulSet statefulsets sts n * all scale,status`,
  'events.k8s.io/v1': 'Event events ev n *',
  'authentication.k8s.io/v1': `
    SelfSubjectReview selfsubjectreviews - c create
    TokenReview tokenreviews - c create`,
  'authorization.k8s.io/v1': `
    LocalSubjectAccessReview localsubjectaccessreviews - n create
    SelfSubjectAccessReview selfsubjectaccessreviews - c create
    SelfSubjectRulesReview selfsubjectrulesreviews - c create
    SubjectAccessReview subjectaccessreviews - c create`,
  'autoscaling/v2': 'HorizontalPodAutoscaler horizontalpodautoscalers hpa n * all status',
  'autoscaling/v1': 'HorizontalPodAutoscaler horizontalpodautoscalers hpa n * all status',
  'batch/v1': `
    CronJob cronjobs cj n * all status
    Job jobs - n * all status`,
  'certificates.k8s.io/v1': 'CertificateSigningRequest certificatesigningrequests csr c * - approval,status',
  'networking.k8s.io/v1': `
    IngressClass ingressclasses - c *
    Ingress ingresses ing n * - status
    NetworkPolicy networkpolicies netpol n *`,
  'policy/v1': 'PodDisruptionBudget poddisruptionbudgets pdb n * - status',
  'rbac.authorization.k8s.io/v1': `
    ClusterRoleBinding clusterrolebindings - c *
    ClusterRole clusterroles - c *
    RoleBinding rolebindings - n *
    Role roles - n *`,
  'storage.k8s.io/v1': `
    CSIDriver csidrivers - c *
    CSINode csinodes - c *
    CSIStorageCapacity csistoragecapacities - n *
    StorageClass storageclasses sc c *
    VolumeAttachment volumeattachments - c * - status`,
  'admissionregistration.k8s.io/v1': `
    MutatingWebhookConfiguration mutatingwebhookconfigurations - c * api-extensions
    ValidatingAdmissionPolicy validatingadmissionpolicies - c * api-extensions status
    ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings - c * api-extensions
    ValidatingWebhookConfiguration validatingwebhookconfigurations - c * api-extensions`,
  'apiextensions.k8s.io/v1': 'CustomResourceDefinition customresourcedefinitions crd,crds c * api-extensions status',
  'scheduling.k8s.io/v1': 'PriorityClass priorityclasses pc c *',
  'coordination.k8s.io/v1': 'Lease leases - n *',
  'node.k8s.io/v1': 'RuntimeClass runtimeclasses - c *',
  'discovery.k8s.io/v1': 'EndpointSlice endpointslices - n *',
  'flowcontrol.apiserver.k8s.io/v1': `
    FlowSchema flowschemas - c * - status
    PriorityLevelConfiguration prioritylevelconfigurations - c * - status`,
};

const listed = (text: string) => (text === '-' ? [] : text.split(','));

export const GROUPS: readonly KubeGroup[] = Object.entries(TABLE).map(([groupVersion, lines]) => {
  const [name = '', version = ''] = groupVersion.split('/');
  const rows = lines
    .trim()
    .split('\n')
    .map((line) => line.trim().split(' '));
  return {
    name,
    version,
    resources: rows.map(([kind = '', plural = '', short = '-', scope, verbs = '*', categories = '-', parts = '-']) => ({
      name: plural,
      kind,
      shortNames: listed(short),
      namespaced: scope === 'n',
      verbs: VERBS[verbs] ?? ALL,
      categories: listed(categories),
      subresources: listed(parts),
    })),
  };
});

export function verbsOfPart(part: string): readonly string[] {
  if (part === 'status' || part === 'scale' || part === 'approval' || part === 'ephemeralcontainers')
    return ['get', 'patch', 'update'];
  if (part === 'finalize') return ['update'];
  if (part === 'log') return ['get'];
  if (part === 'binding' || part === 'eviction' || part === 'token') return ['create'];
  return part === 'proxy' ? ALL.filter((verb) => verb !== 'list' && verb !== 'watch') : ['create', 'get'];
}

/** Returns the hash as in apiserver/pkg/endpoints/discovery/storageversionhash.go. */
export function storageVersionHash({ name, version }: KubeGroup, kind: string): string {
  return Buffer.from(hash('sha256', `${name}/${version}/${kind}`, 'hex'), 'hex')
    .subarray(0, 8)
    .toString('base64');
}
