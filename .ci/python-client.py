"""What a Python program does with a cluster, and what must come back. Arguments: URL and token of a server."""

import sys
import threading
import time

from kubernetes import client, utils, watch
from kubernetes.client.rest import ApiException

NAMESPACE = "default"

configuration = client.Configuration()
configuration.host = sys.argv[1]
configuration.api_key = {"authorization": "Bearer " + sys.argv[2]}
api = client.ApiClient(configuration)
core = client.CoreV1Api(api)
apps = client.AppsV1Api(api)

assertions = 0
failed = 0


def expect(what, wanted, ask):
    """`ask()` returns what is `wanted`, or raises an ApiException with that status and reason."""
    global assertions, failed
    assertions += 1
    try:
        got = ask()
    except ApiException as refused:
        got = (refused.status, refused.reason)
    except Exception as broken:  # the client could not read the answer
        got = repr(broken)
    if got != wanted:
        failed += 1
        print(f"FAILED {what}\n  expected: {wanted!r}\n  actual:   {got!r}")


def meta(name, **more):
    return client.V1ObjectMeta(name=name, **more)


def config_map(name):
    return client.V1ConfigMap(metadata=meta(name, labels={"app": "shop"}), data={"colour": "red"})


def objects():
    expect("the version", "1.36", lambda: "{0.major}.{0.minor}".format(client.VersionApi(api).get_code()))
    expect("the groups", True, lambda: "apps" in [group.name for group in client.ApisApi(api).get_api_versions().groups])
    expect("a create", {"colour": "red"}, lambda: core.create_namespaced_config_map(NAMESPACE, config_map("a")).data)
    expect("a second create", (409, "Conflict"), lambda: core.create_namespaced_config_map(NAMESPACE, config_map("a")))
    expect("a get of nothing", (404, "Not Found"), lambda: core.read_namespaced_config_map("none", NAMESPACE))
    expect("a list", ["a"], lambda: [each.metadata.name for each in core.list_config_map_for_all_namespaces(label_selector="app=shop").items])
    expect("a page", (1, True), lambda: page(core.list_namespace(limit=1)))
    expect("a strategic patch", "l", lambda: core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"size": "l"}}).data["size"])
    add = [{"op": "add", "path": "/data/shape", "value": "round"}]
    expect("a JSON patch", "round", lambda: core.patch_namespaced_config_map("a", NAMESPACE, add).data["shape"])
    expect("a replacement", {"colour": "red"}, lambda: core.replace_namespaced_config_map("a", NAMESPACE, config_map("a")).data)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}}
    expect("a dictionary", "Opaque", lambda: utils.create_from_dict(api, secret)[0].type)
    expect("a deletion of many", None, lambda: core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="app=shop").code)


def page(found):
    return len(found.items), bool(found.metadata._continue)


def workloads():
    spec = client.V1PodSpec(containers=[client.V1Container(name="till", image="till:1")])
    pod = client.V1Pod(metadata=meta("till", labels={"app": "till"}), spec=spec)
    expect("a pod", "Pending", lambda: core.create_namespaced_pod(NAMESPACE, pod).status.phase)
    running = {"status": {"phase": "Running"}}
    expect("a pod's status", "Running", lambda: core.patch_namespaced_pod_status("till", NAMESPACE, running).status.phase)
    target = client.V1ObjectReference(kind="Node", name="worker", api_version="v1")
    binding = client.V1Binding(metadata=meta("till"), target=target)
    expect("a binding", 201, lambda: core.create_namespaced_binding(NAMESPACE, binding, _preload_content=False).status)
    expect("a bound pod", "worker", lambda: core.read_namespaced_pod("till", NAMESPACE).spec.node_name)
    eviction = client.V1Eviction(metadata=meta("till"))
    expect("an eviction", 201, lambda: core.create_namespaced_pod_eviction("till", NAMESPACE, eviction, _preload_content=False).status)
    template = client.V1PodTemplateSpec(metadata=meta(None, labels={"app": "shop"}), spec=spec)
    selector = client.V1LabelSelector(match_labels={"app": "shop"})
    deployment = client.V1Deployment(metadata=meta("shop"), spec=client.V1DeploymentSpec(selector=selector, template=template))
    expect("a deployment", 1, lambda: apps.create_namespaced_deployment(NAMESPACE, deployment).spec.replicas)
    expect("a scale", 3, lambda: apps.patch_namespaced_deployment_scale("shop", NAMESPACE, {"spec": {"replicas": 3}}).spec.replicas)
    expect("a scale's selector", "app=shop", lambda: apps.read_namespaced_deployment_scale("shop", NAMESPACE).status.selector)
    ports = client.V1ServiceSpec(ports=[client.V1ServicePort(port=80)], selector={"app": "shop"})
    service = client.V1Service(metadata=meta("shop"), spec=ports)
    expect("a service", "10", lambda: core.create_namespaced_service(NAMESPACE, service).spec.cluster_ip.split(".")[0])


def watches():
    expect("a watch", ["ADDED", "MODIFIED", "DELETED"], seen_events)
    old = lambda: list(watch.Watch().stream(core.list_namespaced_config_map, NAMESPACE, resource_version="1", timeout_seconds=5))
    expect("a watch from the distant past", 410, lambda: status_of(old))


def seen_events():
    before = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    writer = threading.Thread(target=write_and_delete)
    writer.start()
    seen = []
    stream = watch.Watch()
    for event in stream.stream(core.list_namespaced_config_map, NAMESPACE, resource_version=before, timeout_seconds=20):
        seen.append(event["type"])
        if event["type"] == "DELETED":
            stream.stop()
    writer.join()
    return seen


def write_and_delete():
    core.create_namespaced_config_map(NAMESPACE, config_map("seen"))
    core.patch_namespaced_config_map("seen", NAMESPACE, {"data": {"size": "l"}})
    core.delete_namespaced_config_map("seen", NAMESPACE)


def status_of(ask):
    try:
        return ask()
    except ApiException as refused:
        return refused.status


def custom():
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"watts": {"type": "integer"}}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "lamps.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "lamps", "kind": "Lamp"}, "versions": [version]},
    }
    extensions = client.ApiextensionsV1Api(api)
    expect("a definition", "lamps.example.com", lambda: extensions.create_custom_resource_definition(definition).metadata.name)
    for _ in range(100):
        conditions = extensions.read_custom_resource_definition("lamps.example.com").status.conditions or []
        if any(each.type == "Established" and each.status == "True" for each in conditions):
            break
        time.sleep(0.1)
    lamps = ("example.com", "v1", NAMESPACE, "lamps")
    lamp = {"apiVersion": "example.com/v1", "kind": "Lamp", "metadata": {"name": "desk"}, "spec": {"watts": 40}}
    resources = client.CustomObjectsApi(api)
    expect("a custom resource", 40, lambda: resources.create_namespaced_custom_object(*lamps, lamp)["spec"]["watts"])
    expect("its patch", 60, lambda: resources.patch_namespaced_custom_object(*lamps, "desk", {"spec": {"watts": 60}})["spec"]["watts"])
    wrong = {**lamp, "metadata": {"name": "wrong"}, "spec": {"watts": "many"}}
    expect("a wrong one", (422, "Unprocessable Entity"), lambda: resources.create_namespaced_custom_object(*lamps, wrong))
    expect("its deletion", "Success", lambda: resources.delete_namespaced_custom_object(*lamps, "desk")["status"])


def reviews():
    attributes = client.V1ResourceAttributes(verb="get", resource="pods")
    review = client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes))
    expect("an access review", True, lambda: client.AuthorizationV1Api(api).create_self_subject_access_review(review).status.allowed)
    token = client.V1TokenReview(spec=client.V1TokenReviewSpec(token=sys.argv[2]))
    expect("a token review", "ci", lambda: client.AuthenticationV1Api(api).create_token_review(token).status.user.username)


for part in (objects, workloads, watches, custom, reviews):
    part()
print(f"{assertions} assertions, {failed} failed")
sys.exit(1 if failed else 0)
