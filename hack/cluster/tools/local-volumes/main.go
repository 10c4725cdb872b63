// local-volumes makes a folder of this machine for each claim of the storage class of a local cluster, and removes
// folder and volume when the claim is deleted.
package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

type localVolumes struct {
	folder string
}

// Provision makes a volume of kind local: unlike hostPath, the kubelet gives it to the fsGroup of a pod.
func (volumes localVolumes) Provision(_ context.Context, options controller.ProvisionOptions) (*v1.PersistentVolume, controller.ProvisioningState, error) {
	path := filepath.Join(volumes.folder, options.PVName)
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	// Past the umask: a pod without an fsGroup runs as any user.
	if err := os.Chmod(path, 0o777); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	name := options.PVName
	onThisNode := v1.NodeSelectorRequirement{
		Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{options.SelectedNodeName},
	}
	return &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *options.StorageClass.ReclaimPolicy,
			AccessModes:                   options.PVC.Spec.AccessModes,
			Capacity:                      v1.ResourceList{v1.ResourceStorage: options.PVC.Spec.Resources.Requests[v1.ResourceStorage]},
			PersistentVolumeSource:        v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: path}},
			NodeAffinity: &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{
				NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{onThisNode}}},
			}},
		},
	}, controller.ProvisioningFinished, nil
}

func (volumes localVolumes) Delete(_ context.Context, volume *v1.PersistentVolume) error {
	return os.RemoveAll(filepath.Join(volumes.folder, volume.Name))
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file that says how to reach the API server")
	folder := flag.String("folder", "", "where the folders of volumes are made")
	provisioner := flag.String("provisioner", "", "name that storage classes call this program by")
	flag.Parse()

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		klog.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		klog.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	controller.NewProvisionController(
		ctx, client, *provisioner, localVolumes{folder: *folder}, controller.LeaderElection(false),
	).Run(ctx)
}
